"""Elements taken, written and added by index or mask."""
