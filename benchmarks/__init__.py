"""Speed relative to PyTorch's, measured alternately in the same run."""
