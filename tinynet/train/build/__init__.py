"""From a checked config to what it describes, and trials of it."""
