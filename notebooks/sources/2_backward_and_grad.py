# %% [markdown] en
# # 2. Two ways to a gradient
#
# `y.backward()` stores gradients in the `.grad` of leaves. `torch.autograd.grad(y, x)` returns them and
# changes nothing. Both walk the same graph. This notebook compares them: first and second derivatives,
# accumulated gradients, vector results, and how to cut off a branch.
# %% [markdown] zh
# # 2. 求梯度的两种方法
#
# `y.backward()` 把梯度填进叶子的 `.grad`；`torch.autograd.grad(y, x)` 直接返回梯度，不留痕迹。
# 两者走的是同一张图。本篇对比这两种方法：一阶和二阶导数、梯度的累加、
# 结果是向量时怎么办，以及怎样切断一条支路。
# %%
import tinynet as torch
from tinynet import board

x = torch.tensor(1.0, requires_grad=True)
z = torch.tensor(1.0).requires_grad_()
print(x.requires_grad, x.is_leaf, x.grad_fn, x.grad)
print(z.requires_grad, z.is_leaf, z.grad_fn, z.grad)
# %% [markdown] en
# A tensor that you create requires no gradient unless you say so, in one of these two ways. Parameters
# of modules require one already. A result requires a gradient as soon as one of its inputs does.
#
# ## $y = (x + 1)(x + 2)$ at $x = 2$
# %% [markdown] zh
# 自己创建的张量默认不求梯度，要用上面两种写法之一说明；网络模块里的参数已经替你说好了。
# 运算的结果只要有一个输入需要梯度，自己也就需要。
#
# ## $y = (x + 1)(x + 2)$，取 $x = 2$
# %%
x = torch.tensor(2.0, requires_grad=True)
a = torch.add(x, 1)
b = torch.add(x, 2)
y = torch.mul(a, b)
board.draw(y, names={"x": x, "y": y})
# %% [markdown] en
# Two paths lead from $y$ to $x$. The chain rule multiplies the derivatives along each path and adds the
# two products: $\dfrac{\partial y}{\partial a}\dfrac{\partial a}{\partial x} +
# \dfrac{\partial y}{\partial b}\dfrac{\partial b}{\partial x} = (x + 2) + (x + 1) = 7$.
# %% [markdown] zh
# 从 $y$ 到 $x$ 有两条路。链式法则：每条路上把导数连乘，再把两条路相加：
# $\dfrac{\partial y}{\partial a}\dfrac{\partial a}{\partial x} +
# \dfrac{\partial y}{\partial b}\dfrac{\partial b}{\partial x} = (x + 2) + (x + 1) = 7$。
# %%
y.backward()
print("backward:", x.grad)

x = torch.tensor(2.0, requires_grad=True)
y = (x + 1) * (x + 2)
(gradient,) = torch.autograd.grad(outputs=y, inputs=x)
print("grad:    ", gradient, "and x.grad is", x.grad)
# %% [markdown] en
# `grad` returns a tuple with one gradient per requested input, and computes no others.
#
# ## Several inputs, and the second time
#
# $z = x^2 y$ at $x = 2$, $y = 3$: $\ \partial z/\partial x = 2xy = 12$, $\ \partial z/\partial y = x^2 = 4$.
# Both functions free the graph. To differentiate twice, retain it the first time, or request both
# gradients at once.
# %% [markdown] zh
# `grad` 返回一个元组，要求导的每个输入各对应一个梯度；没有要求的不会计算。
#
# ## 多个输入，以及第二次求导
#
# $z = x^2 y$，取 $x = 2$、$y = 3$：$\ \partial z/\partial x = 2xy = 12$，
# $\ \partial z/\partial y = x^2 = 4$。两种方法用完都会释放图。
# 要求导两次，第一次就得保留计算图；或者一次把两个都求出来。
# %%
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x * x * y
(along_x,) = torch.autograd.grad(z, x, retain_graph=True)
(along_y,) = torch.autograd.grad(z, y)
print(along_x, along_y)
z = x * x * y
print(torch.autograd.grad(z, (x, y)))
# %% [markdown] en
# ## The derivative of a derivative
#
# $\partial^2 z/\partial x^2 = 2y = 6$. The gradient of a gradient needs the gradient to have a graph;
# a plain one has none, even if the first graph is kept:
# %% [markdown] zh
# ## 导数的导数
#
# $\partial^2 z/\partial x^2 = 2y = 6$。要对梯度再求导，梯度自己得有一张图；
# 普通方式得到的梯度没有图，即使留住了原来那张也不行：
# %% raises
z = x * x * y
(first,) = torch.autograd.grad(z, x, retain_graph=True)
torch.autograd.grad(first, x)
# %% [markdown] en
# `create_graph=True` records the backward pass as it runs: the computation of $2xy$ itself.
# %% [markdown] zh
# `create_graph=True` 会把反向传播本身也记录下来，也就是 $2xy$ 的计算过程：
# %%
z = x * x * y
(first,) = torch.autograd.grad(z, x, create_graph=True)
board.draw(first, names={"x": x, "y": y})
# %%
(second,) = torch.autograd.grad(first, x)
print(first, second)
# %% [markdown] en
# ## Gradients are added to `.grad`
#
# Calling `backward` twice is surprising: 18 instead of the expected 6. The second call adds its 6 to the
# 12 of the first. (`x.grad` now also has a graph that leads back to `x`, so a warning reports that the
# two keep each other in memory; for higher derivatives, `grad` is better.)
# %% [markdown] zh
# ## 梯度会累加到 `.grad` 上
#
# 连用两次 `backward` 会有意外：期望 6，得到 18。第二次把自己的 6 加到了第一次留下的 12 上。
# （另外，此时 `x.grad` 带着一张通回 `x` 的图，警告说的是二者互相占住内存；
# 求高阶导数还是用 `grad` 为好。）
# %%
z = x * x * y
z.backward(create_graph=True)
print("after the first: ", x.grad.item())
x.grad.backward()
print("after the second:", x.grad.item())
# %% [markdown] en
# Accumulation is intentional: a tensor that is used in several places receives a gradient from each, and
# several small batches can form one step. In return, you have to reset the sum: with
# `optimizer.zero_grad()` before each step, or by hand:
# %% [markdown] zh
# 累加是有意的设计：一个张量被用在多处，每一处都会送来梯度；几个小批次也可以合成一步更新。
# 代价是要有人清零：每步之前调用 `optimizer.zero_grad()`，或者手动把数值归零：
# %%
x.grad = None
z = x * x * y
z.backward(create_graph=True)
x.grad.data.zero_()
x.grad.backward()
print(x.grad.item())
x.grad = y.grad = None
# %% [markdown] en
# ## When the result is a vector
#
# A gradient answers "how much does the final result change", so the final result must be *one* number.
# %% [markdown] zh
# ## 结果是向量时
#
# 梯度的起点是“最终结果变化多少”，所以最终结果只能有*一个*数。
# %% raises
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
y.backward()
# %% [markdown] en
# Otherwise, pass the weights $v$ of the elements of $y$. Backward then computes $v^\top J$, where
# $J_{ij} = \partial y_i/\partial x_j$. Here $y_i = x_i^2$, so $J$ is diagonal:
#
# $$v^\top J = \begin{pmatrix} 1 & 1 \end{pmatrix}
# \begin{pmatrix} 2 x_1 & 0 \\ 0 & 2 x_2 \end{pmatrix} = \begin{pmatrix} 2 & 4 \end{pmatrix}$$
#
# Weights of one are equivalent to a sum. All four lines compute the same gradient:
# %% [markdown] zh
# 于是要给出权重 $v$，说明 $y$ 的各个元素各占多少。反向传播算的是 $v^\top J$，
# 其中 $J_{ij} = \partial y_i/\partial x_j$。这里 $y_i = x_i^2$，所以 $J$ 是对角阵：
#
# $$v^\top J = \begin{pmatrix} 1 & 1 \end{pmatrix}
# \begin{pmatrix} 2 x_1 & 0 \\ 0 & 2 x_2 \end{pmatrix} = \begin{pmatrix} 2 & 4 \end{pmatrix}$$
#
# 权重全取 1 等于求和。下面四行求的是同一个梯度：
# %%
(x * x).sum().backward()
print(x.grad)
x.grad = None
(x * x).backward(torch.ones(2))
print(x.grad)
print(torch.autograd.grad((x * x).sum(), x))
print(torch.autograd.grad(x * x, x, grad_outputs=torch.ones(2)))
# %% [markdown] en
# Other weights select a row: $v = (0, 1)$ gives the gradient of $y_2$. `functional.jacobian` computes
# the whole matrix.
# %% [markdown] zh
# 换一组权重就是取出某一行：$v = (0, 1)$ 得到 $y_2$ 的梯度。想要整个矩阵，用 `functional.jacobian`。
# %%
print(torch.autograd.grad(x * x, x, grad_outputs=torch.tensor([0.0, 1.0])))
print(torch.autograd.functional.jacobian(lambda x: x * x, x))
# %% [markdown] en
# ## Cutting a branch
#
# `detach()` returns the same values without a history: gradients stop there. With the first factor cut
# off, only one path is left in the picture, and the gradient is $x + 1 = 3$ instead of 7. This is how you
# freeze one network while training another that takes its output.
# %% [markdown] zh
# ## 切断一条支路
#
# `detach()` 给出数值相同、但没有历史的张量，梯度到此为止。切断第一个因子之后，
# 图里只剩一条路，梯度是 $x + 1 = 3$，而不是 7。
# 训练时想固定一个网络、只让接在它后面的网络学习，用的就是这一招。
# %%
x = torch.tensor(2.0, requires_grad=True)
a = (x + 1).detach()
y = a * (x + 2)
drawing = board.draw(y, names={"x": x, "y": y})
y.backward()
print(a.requires_grad, a.is_leaf, x.grad)
drawing
