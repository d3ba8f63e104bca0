"""Views, shapes, and the joining, splitting and turning of tensors."""
