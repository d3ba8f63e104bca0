"""Names of ``torch.multiprocessing``, ``torch.distributed`` and its packages."""
