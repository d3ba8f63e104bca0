"""``tinynet.special``: special functions under PyTorch's names.

The declarations of ``ops`` add them (``special_functions.py``); ``special.pyi`` is generated.
"""
