"""Functions of ``torch`` with the arguments of PyTorch's C++ library."""
