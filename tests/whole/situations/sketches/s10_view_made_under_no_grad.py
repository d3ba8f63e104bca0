import tinynet as tn

a = tn.ones(3, requires_grad=True) * 1
with tn.no_grad():
    v = a[:2]
v.mul_(2)

# ---- says ----
# RuntimeError: A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).
#   view     s10_view_made_under_no_grad.py:5 v = a[:2]                          created here
#                                                 ^^^^^
#   changed  s10_view_made_under_no_grad.py:6 v.mul_(2)
#   fix      put both lines inside the no_grad block, or both outside
#   explain  python -m tinynet explain view-inplace
