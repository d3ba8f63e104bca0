"""Several runs: sweeps, searches, finders, and pages that compare them."""
