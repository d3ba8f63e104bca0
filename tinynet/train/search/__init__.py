"""A search for good values of a config's keys, through Optuna."""
