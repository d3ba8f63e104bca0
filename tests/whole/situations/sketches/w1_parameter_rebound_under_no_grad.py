import tinynet as tn

w = tn.ones(3, requires_grad=True)
for _ in range(2):
    (w * w).sum().backward()
    with tn.no_grad():
        w = w - 0.1 * w.grad
    if w.grad is None:
        break

# ---- says ----
# LostGradientWarning: The .grad of this tensor is None and will stay None: the tensor was computed under no_grad, so it does not require grad. If it was meant to update a parameter (`w = w - lr * w.grad`), change the parameter in place instead: `w -= lr * w.grad`. More: python -m tinynet explain lost-gradient
