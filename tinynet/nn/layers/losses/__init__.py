"""Losses as modules."""
