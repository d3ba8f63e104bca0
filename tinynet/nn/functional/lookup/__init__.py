"""Embeddings: rows of a table, by index."""
