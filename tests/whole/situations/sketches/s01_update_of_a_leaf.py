import tinynet as tn

w = tn.ones(3, requires_grad=True)
(w * w).sum().backward()
w -= 0.1 * w.grad

# ---- says ----
# RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.
#   changed  s01_update_of_a_leaf.py:5 w -= 0.1 * w.grad
#   fix      to update or fill it without recording: do it inside `with no_grad():`. To compute a new tensor: `w = w - ...` (the result is not a leaf: its .grad stays None and an optimizer does not see it)
#   explain  python -m tinynet explain leaf-inplace
