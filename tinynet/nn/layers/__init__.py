"""Layers without a family of their own."""
