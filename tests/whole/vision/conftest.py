collect_ignore = ["record.py"]  # it imports torchvision; the doctest collector would, too
