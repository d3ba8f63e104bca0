"""What a run folder holds besides its config, and how it is read again."""
