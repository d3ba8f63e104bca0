"""A run: the loop with everything around it, resumed and evaluated."""
