import tinynet as tn
from tinynet import nn

weight = nn.Parameter(tn.ones(2, 3))
weight[:, 0].zero_()

# ---- says ----
# RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.
#   changed  s02_view_of_a_parameter.py:5 weight[:, 0].zero_()
#   fix      to update or fill it without recording: do it inside `with no_grad():`. To compute a new tensor: `w = w + ...` (the result is not a leaf: its .grad stays None and an optimizer does not see it)
#   explain  python -m tinynet explain leaf-inplace
