"""Finding a learning rate and a batch size for a config, by trying them."""
