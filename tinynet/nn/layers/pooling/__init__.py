"""Pooling as modules."""
