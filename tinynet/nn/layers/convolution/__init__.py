"""Convolutions as modules."""
