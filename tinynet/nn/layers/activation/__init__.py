"""Activations as modules."""
