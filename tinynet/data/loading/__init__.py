"""The DataLoader, its samplers and workers."""
