"""Every class of `nn` against PyTorch's class of the same name."""
