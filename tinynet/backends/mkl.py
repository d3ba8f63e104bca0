"""MKL: whether it is used depends on numpy's BLAS."""

from tinynet.backends.absent import is_available as is_available
