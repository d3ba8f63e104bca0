"""These programs are run by the test, in a Python of their own."""

collect_ignore = ["like_pyodide.py", "digits.py", "fit.py"]
