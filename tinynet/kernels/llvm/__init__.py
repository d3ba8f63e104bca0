"""A compiler of loops over numbers and arrays, from Python to machine code by LLVM."""
