"""``torch.fx.passes``: what runs over graphs."""
