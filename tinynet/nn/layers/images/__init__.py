"""Padding, resizing and shuffling of images."""
