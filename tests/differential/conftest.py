collect_ignore = ["record.py", "live.py"]  # they import PyTorch; the doctest collector would, too
