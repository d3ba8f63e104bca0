"""Recording: a call of a function, and of its backward passes, as programs."""
