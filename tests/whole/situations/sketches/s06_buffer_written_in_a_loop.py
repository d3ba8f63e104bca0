import tinynet as tn

w = tn.ones(3, requires_grad=True)
h = tn.zeros(4, 3)
for t in range(1, 4):
    h[t] = h[t - 1] * w
h.sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [3]], which is output 0 of SelectBackward0, is at version 3; expected version 2 instead.
#   saved    s06_buffer_written_in_a_loop.py:6 h[t] = h[t - 1] * w                for MulBackward0 (its input)
#                                                     ^^^^^^^^^^^^
#   changed  s06_buffer_written_in_a_loop.py:6 h[t] = h[t - 1] * w                by __setitem__, version 2 -> 3
#                                              ^^^^
#   needed   s06_buffer_written_in_a_loop.py:7 h.sum().backward()
#   fix      the line reads `h` and then writes to it: in a loop, collect the parts in a list and `stack(parts)` them after the loop; or read from a copy, `h[...].clone()` (all of a tensor's memory shares one version counter, even parts that do not overlap)
#   explain  python -m tinynet explain inplace-saved
