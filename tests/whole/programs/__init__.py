"""Public PyTorch programs, run on PyTorch and on tinynet: `python -m tests.whole.programs`."""
