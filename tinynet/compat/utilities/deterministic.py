"""``torch.utils.deterministic``: an option that changes nothing here."""

fill_uninitialized_memory = True
