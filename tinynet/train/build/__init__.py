"""Building the objects of a checked config, and trying them."""
