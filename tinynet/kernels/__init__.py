"""Arrays in, arrays out: threads, accurate sums, 16-bit floats, compiled kernels."""
