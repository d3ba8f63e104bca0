"""The test runs these programs in a separate Python."""

collect_ignore = ["like_pyodide.py", "digits.py", "fit.py"]
