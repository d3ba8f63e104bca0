"""Captured steps: ``tn.compile``."""

from tinynet.capture.api import compile as compile
