import tinynet as tn

w = tn.ones(3, requires_grad=True).to(tn.float64)
(w * w).sum().backward()
if w.grad is None:
    pass

# ---- says ----
# LostGradientWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. Here w2_leaf_lost_by_to.py:3 converted the leaf and returned a new tensor, which is not a leaf: convert first, then call requires_grad_() on the result. More: python -m tinynet explain lost-gradient
