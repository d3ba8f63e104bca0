# %% [markdown] en
# # 3. A graph built while the program runs
#
# What a dynamic graph is, what its nodes do, in which order backward calls them, and what a whole
# training step looks like as a picture.
# %% [markdown] zh
# # 3. 边运行边建立的图
#
# 什么是动态图，图里的节点做什么，反向传播按什么顺序调用它们，以及一整步训练画出来是什么样子。
# %%
from functools import partial

import tinynet as torch
from tinynet import board, nn

torch.manual_seed(0)
w = torch.tensor([[3.0, 1.0]], requires_grad=True)
b = torch.tensor([[3.0]], requires_grad=True)
x = torch.randn(10, 2)
y = torch.randn(10, 1)
y_hat = x @ w.t() + b
loss = torch.mean(torch.pow(y_hat - y, 2))
print(loss.detach())
# %% [markdown] en
# ## Dynamic, in two senses
#
# **Forward runs immediately.** Each line computes its values and adds its nodes; there is nothing to
# compile or start. So Python's `if`, `for` and the debugger work as usual.
#
# **Backward cleans up.** The nodes' saved values are freed as soon as they have been used.
# %% [markdown] zh
# ## “动态”的两层含义
#
# **前向立即执行。** 每一行都当场算出数值，并把节点接到图上；不需要编译，也没有“启动”这一步。
# 所以 Python 的 `if`、`for` 和调试器都照常可用。
#
# **反向之后随即清理。** 节点里保存的东西一用完就释放。
# %%
board.draw(loss, names={"w": w, "b": b})
# %%
loss.backward()
print(w.grad, b.grad)
# %% raises
loss.backward()


# %% [markdown] en
# ## A node of your own
#
# A node is a pair of matching functions: one for the values, one for the gradients. A `Function` is such
# a pair. `save_for_backward` keeps what the second function needs from the first, and watches its
# version. The incoming gradient is called upstream; `backward` multiplies it by the derivative of this
# one operation and passes it on.
# %% [markdown] zh
# ## 自己写一个节点
#
# 节点是成对的两个函数：一个算数值，一个算梯度。`Function` 就是这样的一对。
# `save_for_backward` 替后者保存前者的值，并盯住它的版本号。
# 传进来的是上游梯度；`backward` 只管把它乘上这一个运算的导数，再往下传。
# %%
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, upstream):
        (input,) = ctx.saved_tensors
        downstream = upstream.clone()
        downstream[input < 0] = 0
        return downstream


w.grad = b.grad = None
x = torch.tensor([[-1.0, -1.0], [1.0, 1.0]])
y = torch.tensor([[2.0, 3.0]])
y_hat = MyReLU.apply(x @ w.t() + b)
loss = torch.mean(torch.pow(y_hat - y, 2))
loss.backward()
print(w.grad, b.grad, type(y_hat.grad_fn).__name__)
# %% [markdown] en
# `gradcheck` verifies that the two functions match: it compares `backward` with finite differences of
# the forward, in double precision.
# %% [markdown] zh
# 两个函数是否真的配对，可以检查：`gradcheck` 用双精度，把 `backward` 和前向的差商作比较。
# %%
values = torch.tensor([-1.5, 0.5, 2.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(MyReLU.apply, values))


# %% [markdown] en
# ## What backward does, step by step
#
# For `loss = (y1 - y2)²` with `y1 = x + 1`, `y2 = 2x`, at `x = 3`:
#
# 1. The loss gets the gradient 1.
# 2. Its node passes on $2 (y_1 - y_2) = -4$ to `y1` and $+4$ to `y2`.
# 3. Both arrive at `x`: $-4 \cdot 1 + 4 \cdot 2 = 4$.
#
# Among the nodes whose gradient is complete, the one created last runs first: `y2` before `y1`. Hooks
# show this order; backward calls them with each gradient as it passes.
# %% [markdown] zh
# ## 反向传播的每一步
#
# 设 `loss = (y1 - y2)²`，`y1 = x + 1`，`y2 = 2x`，取 `x = 3`：
#
# 1. 损失得到梯度 1。
# 2. 它的节点把 $2 (y_1 - y_2) = -4$ 传给 `y1`，把 $+4$ 传给 `y2`。
# 3. 两路都到达 `x`：$-4 \cdot 1 + 4 \cdot 2 = 4$。
#
# 梯度已经到齐的节点里，后创建的先执行，所以 `y2` 在 `y1` 之前。
# 用钩子（hook）可以看到这个顺序：梯度经过时，钩子会被调用。
# %%
def tell(name, gradient):
    print(f"{name:4} {gradient.item():5.1f}")


x = torch.tensor(3.0, requires_grad=True)
y1 = x + 1
y2 = 2 * x
loss = (y1 - y2) ** 2
for name, tensor in {"loss": loss, "y1": y1, "y2": y2, "x": x}.items():
    tensor.register_hook(partial(tell, name))
loss.backward()
print(x.grad)
# %% [markdown] en
# ## Twice through the same graph
#
# With `retain_graph=True`, the graph is kept, and each pass adds to `x.grad`: 4, then 8. Resetting it is
# up to you.
# %% [markdown] zh
# ## 同一张图走两遍
#
# `retain_graph=True` 把图留下，而每一遍都会往 `x.grad` 上加：先是 4，再是 8。清零是你自己的事。
# %%
x = torch.tensor(3.0, requires_grad=True)
loss = (x + 1 - 2 * x) ** 2
for _ in range(2):
    loss.backward(retain_graph=True)
    print("added up:", x.grad.item())
for _ in range(2):
    x.grad.zero_()
    loss.backward(retain_graph=True)
    print("from zero:", x.grad.item())
# %% [markdown] en
# ## What remains after backward
#
# Leaves keep their gradients and intermediate results do not, which frees the memory of large networks.
# To make an exception, call `retain_grad()` before backward.
# %% [markdown] zh
# ## 反向之后留下什么
#
# 叶子留住梯度，中间结果不留，这样大网络的内存才能腾出来。
# 想破例的话，在反向之前调用 `retain_grad()`。
# %%
x = torch.tensor(3.0, requires_grad=True)
y1 = x + 1
loss = (y1 - 2 * x) ** 2
loss.retain_grad()
loss.backward()
print("x:   ", x.is_leaf, x.grad)
print("loss:", loss.is_leaf, loss.grad)
print("y1:  ", y1.is_leaf, y1.retains_grad)


# %% [markdown] en
# ## A whole step as a picture
#
# `board.record` records a step while it runs. Nothing runs twice, and the results are bit-identical. Blue
# boxes are the forward, orange ones the backward, green ones the optimizer's writes.
# %% [markdown] zh
# ## 把一整步画出来
#
# `board.record` 在一步训练运行的同时把它记录下来。没有什么会运行两次，结果一个比特也不差。
# 蓝色是前向，橙色是反向，绿色是优化器的写入。
# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2, 1))
        self.b = nn.Parameter(torch.zeros(1, 1))

    def forward(self, x):
        return x @ self.w + self.b


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with board.record(net) as recorded:
    loss = net(torch.rand(10, 2)).square().mean()
    loss.backward()
    optimizer.step()
recorded
# %% [markdown] en
# TensorBoard's Graphs tab shows the same graph, with modules that expand and collapse, and the time,
# memory and source line of each operation. Open it with `tensorboard --logdir FOLDER`, or in a notebook
# with `from tinynet.board import notebook; notebook.start("--logdir FOLDER")`.
# %% [markdown] zh
# 同样的内容可以送进 TensorBoard 的 Graphs 页：模块可以展开、收起，每个运算都标着耗时、
# 内存和所在的代码行。用 `tensorboard --logdir FOLDER` 查看；在笔记本里则是
# `from tinynet.board import notebook; notebook.start("--logdir FOLDER")`。
# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    with board.SummaryWriter(folder) as writer:
        writer.add_graph(net, torch.rand(10, 2))
        recorded.write(writer)
    print([path.name.split(".")[0] for path in Path(folder).iterdir()], list(recorded.graphs))
