"""The loop over steps, its callbacks, and the sets it measures."""
