"""Callbacks: code of the user's at events of a run."""
