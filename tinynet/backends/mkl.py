"""MKL: whether numpy's BLAS is one is numpy's matter."""

from tinynet.backends.absent import is_available as is_available
