# They import PyTorch; the doctest collector would, too.
collect_ignore = [
    *("__main__.py", "modules.py", "optimizers.py", "record.py", "rows.py", "translate.py"),
]
