"""A run: the training loop, and the work between its steps."""
