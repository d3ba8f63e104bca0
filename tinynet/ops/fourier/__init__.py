"""Discrete Fourier transforms, and spectrograms made of them."""
