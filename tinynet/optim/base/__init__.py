"""What optimizers share: groups, options, state, the quick way through a step."""
