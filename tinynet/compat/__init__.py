"""What scripts ask of PyTorch's other packages: the answers, or a refusal in one line."""
