"""What knows nothing of arrays: start of the program, lazy loading, whole files, memory."""
