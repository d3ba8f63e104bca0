import tinynet as tn

a = tn.tensor([1.0, 2.0, 3.0], requires_grad=True)
with tn.autograd.checked():
    out = a.sigmoid()
out.data.zero_()
out.sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified without autograd's knowledge: the contents of [tinynet.FloatTensor [3]] differ from what was saved, at the same version.
#   saved    s11_write_through_data.py:5 out = a.sigmoid()                  for SigmoidBackward0 (its output)
#                                              ^^^^^^^^^^^
#   changed  between these lines, by code that autograd cannot see
#   needed   s11_write_through_data.py:7 out.sum().backward()
#   fix      writes through `.data`, or to a numpy array that shares the tensor's memory (`from_numpy(a)`, `x.numpy()`), are not tracked: use `.detach()` instead of `.data`, and copy arrays with `tensor(a)`
#   explain  python -m tinynet explain unseen-change
