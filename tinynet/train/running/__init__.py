"""A run: the loop and what goes on around it."""
