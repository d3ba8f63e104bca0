"""Data sets and readers of files."""
