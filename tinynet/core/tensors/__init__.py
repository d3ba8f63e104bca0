"""Tensors, their memory, versions and views."""
