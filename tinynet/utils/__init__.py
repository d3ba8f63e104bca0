"""Doors under PyTorch's import paths: what stands elsewhere, re-exported."""
