collect_ignore = ["live.py", "record.py"]  # they import PyTorch; the doctest collector would, too
