"""Speed, as a ratio against PyTorch measured in the same run, taking turns."""
