"""Batch, instance, layer, group and RMS norm."""
