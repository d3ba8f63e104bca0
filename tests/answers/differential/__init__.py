"""Differential test of autograd's semantics: small programs, PyTorch's recorded answers."""
