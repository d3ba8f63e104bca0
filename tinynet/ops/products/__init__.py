"""Products of vectors, matrices and more."""
