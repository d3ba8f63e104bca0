# Nothing here has examples in docstrings, and the doctest collector would import everything twice
# (record.py even PyTorch).
collect_ignore_glob = ["cases_*.py", "record.py", "run.py", "spec.py", "tables.py"]
