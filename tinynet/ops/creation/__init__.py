"""Tensor creation: from data, constants, ranges, random numbers; and queries about tensors."""
