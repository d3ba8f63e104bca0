"""Discrete Fourier transforms: ``torch.fft``.

A forward transform is ``y[j] = sum(x[k] exp(-2 pi i j k / n))`` over k (Cooley and Tukey, 1965); an
inverse one has ``exp(+...)`` and a factor 1 / n. ``norm`` places this factor: ``"backward"`` (the
default) on the inverse, ``"forward"`` on the forward transform, ``"ortho"`` its root on both.
"""

from tinynet.fft.functions import *  # noqa: F403
