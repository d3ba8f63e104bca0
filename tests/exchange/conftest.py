collect_ignore = ["record.py"]  # it imports PyTorch; the doctest collector would, too
