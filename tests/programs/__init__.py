"""Public PyTorch programs, run on PyTorch and through the door: `python -m tests.programs`."""
