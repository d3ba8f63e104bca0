"""Padding, resizing, warping and shuffling of images."""
