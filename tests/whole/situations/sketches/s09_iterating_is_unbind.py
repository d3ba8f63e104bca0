import tinynet as tn

x = tn.ones(2, 3, requires_grad=True) * 1
for row in x:
    row.mul_(2)

# ---- says ----
# RuntimeError: Output 0 of Unbind is a view and is being modified inplace. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.
#   view     s09_iterating_is_unbind.py:4 for row in x:                      created here
#   changed  s09_iterating_is_unbind.py:5 row.mul_(2)
#   fix      index instead of iterating or splitting: `x[i] = x[i] * 2`, or compute the whole tensor out of place: `x = x * 2` (iterating over a tensor calls unbind)
#   explain  python -m tinynet explain view-inplace
