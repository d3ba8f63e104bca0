"""One step of training: methods, tasks, updates, and what holds for all steps."""
