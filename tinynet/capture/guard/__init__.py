"""Guards: what code depends on besides its arguments, and when a program may run."""
