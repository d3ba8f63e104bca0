"""Data sets and file readers."""
