"""How long a test waits for a program."""

PATIENCE = 600
"""Seconds after which a program counts as hanging: on a machine that does other work, what takes
five seconds may take two minutes."""
