"""Gradients of gradients: Newton's method, a gradient penalty, Jacobians.

Run: python examples/higher_order.py
"""

import tinynet as torch
from tinynet import nn
from tinynet.autograd import functional, grad


def newton(function, start, steps=6):
    """Find a minimum by x -= H^-1 g, with the gradient g and the Hessian H."""
    x = start.clone().requires_grad_()
    for _ in range(steps):
        (gradient,) = grad(function(x), x, create_graph=True)  # the gradient has a graph, too
        hessian = torch.stack([grad(g, x, retain_graph=True)[0] for g in gradient])
        with torch.no_grad():
            x -= torch.linalg.solve(hessian, gradient)
    return x.detach()


def rosenbrock(x):
    """Return a function with a long curved valley (Rosenbrock, 1960), hard for gradient descent."""
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


start = torch.tensor([-1.2, 1.0], dtype=torch.float64)
print(newton(rosenbrock, start))  # tensor([1.0000, 1.0000], dtype=tinynet.float64)


def gradient_penalty(critic, real, fake):
    """Return the penalty for slopes other than 1 between real and fake (Gulrajani et al., 2017)."""
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slope,) = grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
real, fake = torch.randn(64, 2) + 2, torch.randn(64, 2)
first = gradient_penalty(critic, real, fake).item()
for _ in range(100):
    optimizer.zero_grad()
    # The penalty contains a gradient; its backward goes through the graph of that gradient.
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
    loss.backward()
    optimizer.step()
print(gradient_penalty(critic, real, fake).item() < first / 10)  # True

# Functions for whole matrices of derivatives.
x = torch.tensor([1.0, 2.0])
print(functional.jacobian(lambda x: torch.stack([x[0] * x[1], x.sum()]), x))
# tensor([[2., 1.],
#         [1., 1.]])
print(functional.hessian(lambda x: x[0] ** 2 * x[1], x))
# tensor([[4., 2.],
#         [2., 0.]])
