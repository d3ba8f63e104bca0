"""Reading and checking config files."""
