import tinynet as tn

a = tn.ones(3, requires_grad=True) * 1
a[0] = a[1].sin()
a.sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor []], which is output 0 of SelectBackward0, is at version 1; expected version 0 instead.
#   saved    s13_disjoint_parts.py:4  a[0] = a[1].sin()                  for SinBackward0 (its input)
#                                            ^^^^^^^^^^
#   changed  s13_disjoint_parts.py:4  a[0] = a[1].sin()                  by __setitem__, version 0 -> 1
#                                     ^^^^
#   needed   s13_disjoint_parts.py:5  a.sum().backward()
#   fix      the line reads `a` and then writes to it: in a loop, collect the parts in a list and `stack(parts)` them after the loop; or read from a copy, `a[...].clone()` (all of a tensor's memory shares one version counter, even parts that do not overlap)
#   explain  python -m tinynet explain inplace-saved
