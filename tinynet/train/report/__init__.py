"""What people see of a run: progress, figures, predictions."""
