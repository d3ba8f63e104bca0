"""The errors of an export, under PyTorch's names."""

from __future__ import annotations


class OnnxExporterError(RuntimeError):
    """A model cannot be exported."""


class UnsupportedOperatorError(OnnxExporterError):
    """A model computes something that has no form in ONNX."""


class NoFormError(Exception):
    """One call has no form in ONNX; the message is the reason, or empty."""
