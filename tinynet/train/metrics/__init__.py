"""Metrics: figures computed from the outputs of a model and their targets."""
