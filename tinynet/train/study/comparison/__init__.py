"""The report that compares several runs."""
