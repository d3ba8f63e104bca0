"""Checks and explanations of data, configs, steps and runs."""
