"""Stand-ins for PyTorch's other packages: working functions, or one-line refusals."""
