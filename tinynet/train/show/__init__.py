"""The report of a run, a page of HTML."""
