"""What of PyTorch's public names tinynet has: `python -m docs.coverage` writes docs/coverage.md."""
