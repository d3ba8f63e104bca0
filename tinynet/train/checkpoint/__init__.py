"""What a run keeps: its folder, checkpoints, records and sources."""
