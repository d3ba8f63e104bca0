import tinynet as tn
from tinynet import nn

weight = nn.Parameter(tn.ones(2, 3))
weight[:, 0] = 0
(weight * weight).sum().backward()

# ---- says ----
# RuntimeError: leaf variable has been moved into the graph interior
#   changed  s02_part_of_a_parameter.py:5 weight[:, 0] = 0                   by __setitem__: no longer a leaf
#                                         ^^^^^^^^^^^^
#   needed   s02_part_of_a_parameter.py:6 (weight * weight).sum().backward()
#   fix      to fill or initialise it: assign inside `with no_grad():` (it stays a leaf), or fill a plain tensor first and then make it a parameter. To compute with it: assign to a copy, `b = a.clone()`, then `b[...] = ...`
#   explain  python -m tinynet explain leaf-moved
