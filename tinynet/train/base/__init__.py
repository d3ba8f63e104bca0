"""What everything else in training may use: problems, tables, and the files of a run."""
