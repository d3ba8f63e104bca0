"""Indexing: reading, writing and adding elements by index or mask."""
