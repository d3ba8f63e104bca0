import tinynet as tn


def forward(a):
    b = a.sigmoid()
    b[1] = 2
    return b


forward(tn.ones(3, requires_grad=True)).sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [3]], which is output 0 of SigmoidBackward0, is at version 1; expected version 0 instead.
#   saved    s03_saved_output.py:5 in forward b = a.sigmoid()                    for SigmoidBackward0 (its output)
#                                                 ^^^^^^^^^^^
#   changed  s03_saved_output.py:6 in forward b[1] = 2                           by __setitem__, version 0 -> 1
#                                             ^^^^
#   needed   s03_saved_output.py:10   forward(tn.ones(3, requires_grad=True)).sum().backward()
#   fix      change a copy: `b = b.clone()` before line 6; or out of place: `b = where(mask, new, b)`
#   explain  python -m tinynet explain inplace-saved
