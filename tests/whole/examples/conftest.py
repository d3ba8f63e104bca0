"""The recorder imports PyTorch."""

collect_ignore = ["record.py"]
