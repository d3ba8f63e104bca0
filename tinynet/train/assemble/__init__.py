"""From a config to data, model, loss and optimizers."""
