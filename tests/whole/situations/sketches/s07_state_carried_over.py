import tinynet as tn

w = tn.ones(3, requires_grad=True)
h = tn.ones(3)
for _ in range(2):
    h = (h * w).tanh()
    h.sum().backward()

# ---- says ----
# RuntimeError: Trying to backward through the graph a second time, but the saved intermediate results have already been freed. Specify retain_graph=True when calling backward the first time.
#   saved    s07_state_carried_over.py:6 h = (h * w).tanh()
#                                            ^^^^^^^^^^^^^^
#   freed    s07_state_carried_over.py:7 h.sum().backward()                 by the first backward
#   needed   s07_state_carried_over.py:7 h.sum().backward()
#   fix      run the forward again before the second backward; or, if a value came from an earlier step (a hidden state, a running sum), detach it there: `h = h.detach()`. Only if both backward calls are meant to share one graph: retain_graph=True in the first
#   explain  python -m tinynet explain freed-graph
