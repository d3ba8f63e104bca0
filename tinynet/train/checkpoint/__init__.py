"""The files of a run: its folder, checkpoints, records and sources."""
