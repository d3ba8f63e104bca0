# %% [markdown] en
# # 1. The graph behind a result
#
# Water runs from a tap through pipes to a drain. A program that computes with tensors is similar:
# values flow forward through operations to a loss. Autograd remembers the layout of the pipes and sends
# gradients back through it. You do not draw the pipes beforehand; computing lays them.
#
# This notebook shows that layout, the graph: its parts, how to read it, and which writes break it.
# %% [markdown] zh
# # 1. 结果背后的计算图
#
# 水从水龙头出发，经过一根根管子，流到出水口。用张量做计算的程序也是这样的布局：
# 数值沿着一个个运算向前流，最后汇成损失。自动求导把这个布局记下来，再让梯度沿着它
# 反方向流回去。没有人事先画好管道图：计算到哪里，管子就铺到哪里。
#
# 本篇就来看这个布局：它由什么组成，怎么读懂它，以及哪些写操作会弄坏它。
# %%
import tinynet as torch
from tinynet import board

a = torch.tensor(2.0, requires_grad=True)
b = a.exp()
print(b)
# %% [markdown] en
# ## Two kinds of parts
#
# **Tensors** hold values, and **nodes** know how to send a gradient back through one operation.
# `b.grad_fn` is the node of `exp`. `board.draw` draws what `backward` would walk through: arrows point
# in the direction of the gradients.
# %% [markdown] zh
# ## 两种元素
#
# 图里只有两种东西：**张量**，保存数值；**节点**，知道怎样把梯度送回某个运算的输入。
# `b.grad_fn` 就是 `exp` 对应的节点。`board.draw` 画出 `backward` 将要走过的路，
# 箭头的方向就是梯度流动的方向。
# %%
print(type(b.grad_fn).__name__)
board.draw(b, names={"a": a, "b": b})
# %% [markdown] en
# The node lists `saved result`: the derivative of $e^x$ is $e^x$ itself, so backward needs the output.
# Other operations need their inputs, and some need nothing. Remember this line of the box; the most
# common error is about it.
#
# ## A graph with several branches
#
# $$l_1 = x \cdot w_1 \qquad l_2 = l_1 + w_2 \qquad l_3 = l_1 \cdot w_3 \qquad
# l_4 = l_2 \cdot l_3 \qquad \text{loss} = \overline{l_4}$$
# %% [markdown] zh
# 节点里记了一笔 `saved result`：$e^x$ 的导数就是 $e^x$ 自己，所以反向传播要用到输出值。
# 有的运算需要的是输入，有的什么都不需要。请记住方框里的这一行，最常见的报错就和它有关。
#
# ## 一个带分支的例子
#
# $$l_1 = x \cdot w_1 \qquad l_2 = l_1 + w_2 \qquad l_3 = l_1 \cdot w_3 \qquad
# l_4 = l_2 \cdot l_3 \qquad \text{loss} = \overline{l_4}$$
# %%
x = torch.ones(2, 2)
w1 = torch.tensor(2.0, requires_grad=True)
w2 = torch.tensor(3.0, requires_grad=True)
w3 = torch.tensor(4.0, requires_grad=True)
l1 = x * w1
l2 = l1 + w2
l3 = l1 * w3
l4 = l2 * l3
loss = l4.mean()
board.draw(loss, names={"w1": w1, "w2": w2, "w3": w3, "loss": loss})
# %% [markdown] en
# Read it from the top. The loss splits into two branches at `l4 = l2 * l3`; they meet again at `l1`,
# where their gradients are added. Note what is missing: `x` requires no gradient, so no arrow ends
# there; and the node of `l2 = l1 + w2` saved nothing, because a sum passes gradients on unchanged.
# %% [markdown] zh
# 从上往下读。损失在 `l4 = l2 * l3` 处分成两条支路，到 `l1` 处又汇合，两路梯度在这里相加。
# 也请留意图里没有的东西：`x` 不需要梯度，所以没有箭头通到它；
# `l2 = l1 + w2` 的节点什么也没保存，因为加法把梯度原样传下去。
# %%
loss.backward()
print(w1.grad, w2.grad, w3.grad)
# %% [markdown] en
# By hand, with $l_4 = (w_1 + w_2)\,w_1 w_3$ in all four places:
# $\partial/\partial w_1 = (2 w_1 + w_2)\,w_3 = 28$, $\ \partial/\partial w_2 = w_1 w_3 = 8$,
# $\ \partial/\partial w_3 = (w_1 + w_2)\,w_1 = 10$.
#
# ## Leaves
#
# Only `w1`, `w2` and `w3` got a `.grad`: they are **leaves**, created by you and not by an operation. A
# tensor without `requires_grad` counts as a leaf, too. Intermediate results release their gradients as
# soon as they have been passed on; notebook 4 shows how to inspect them.
# %% [markdown] zh
# 手算一遍：四个位置上都有 $l_4 = (w_1 + w_2)\,w_1 w_3$，所以
# $\partial/\partial w_1 = (2 w_1 + w_2)\,w_3 = 28$，$\ \partial/\partial w_2 = w_1 w_3 = 8$，
# $\ \partial/\partial w_3 = (w_1 + w_2)\,w_1 = 10$。
#
# ## 叶子张量
#
# 只有 `w1`、`w2`、`w3` 得到了 `.grad`，因为它们是**叶子**：由你创建，而不是由运算产生。
# 没有 `requires_grad` 的张量也算叶子。叶子和损失之间的中间结果，梯度一传下去就被释放；
# 想看它们的话，第 4 篇有办法。
# %%
for name, tensor in {"x": x, "w1": w1, "l1": l1, "loss": loss}.items():
    print(f"{name:5} is_leaf={tensor.is_leaf!s:6} requires_grad={tensor.requires_grad}")
# %% [markdown] en
# ## A write in place
#
# `a = a.exp()` creates a new tensor and gives it the old name, as `i = i + 1` does. `a[0] = 10` changes
# the memory of the existing tensor, as `items[0] = 10` changes a list: that is **in place**. Each write
# adds one to the tensor's version, which is how the change is detected.
# %% [markdown] zh
# ## 原地写入（in-place）
#
# `a = a.exp()` 造出一个新张量，再把旧名字给它，就像 `i = i + 1`。
# `a[0] = 10` 则直接改写已有张量的内存，就像 `items[0] = 10` 改写列表：这才是**原地操作**。
# 每写一次，张量的版本号加一；框架正是靠版本号发现改动的。
# %%
a = torch.tensor([3.0, 1.0])
old = a
a = a.exp()
print("the same tensor:", a is old, " version:", a._version)
old = a
a[0] = 10
print("the same tensor:", a is old, " version:", a._version)
# %% [markdown] en
# A product saves its inputs. If one of them is written before backward, the saved value has changed,
# and a gradient computed from it would be wrong. So `backward` refuses:
# %% [markdown] zh
# 乘法会保存自己的输入。如果其中一个在反向传播之前被改写，保存的值就不再是当初的值，
# 用它算出来的梯度就是错的。所以 `backward` 会拒绝：
# %% raises
a = torch.tensor([1.0, 3.0], requires_grad=True)
b = a + 2
loss = (b * b).mean()
b[0] = 1000.0
loss.backward()
# %% [markdown] en
# The first sentence is PyTorch's. The lines below it show where the value was saved, where it was
# changed, where it was needed, and what to write instead. The picture shows the same fact: the product
# saved version 0, and the tensor is now at version 1.
# %% [markdown] zh
# 第一句和 PyTorch 的报错一字不差；下面几行说明：值是在哪里保存的（saved），在哪里被改的
# （changed），在哪里要用（needed），以及应该怎么写（fix）。
# 图是从另一个角度看同一件事：乘法保存的是版本 0，而现在已经是版本 1。
# %%
board.draw(loss, names={"a": a})
# %% [markdown] en
# Values that backward does not need may change: `a + 2` saves nothing, so its result may be written.
#
# ## Writing to a leaf
#
# Leaves have stricter rules, because gradients are stored there. An in-place operation on a leaf raises
# an error at once. An assignment to a part of it is recorded, as for any other tensor, but the tensor is
# then a result and no longer a leaf: when backward arrives, it has nowhere to store the gradient and
# raises an error.
# %% [markdown] zh
# 没人需要的值，怎么改都行：`a + 2` 什么都没保存，所以它的结果可以随便写。
#
# ## 改写叶子
#
# 叶子的规矩更严，因为梯度最终要存放在那里。对它做原地运算会当场报错。
# 给它的一部分赋值，则和别的张量一样会被记录下来；但这样一来它就成了运算的结果，不再是叶子。
# 等反向传播走到这里，梯度没有地方可放，于是报错。
# %% raises
a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
a.add_(10.0)
# %% raises
a[:] = 0
print(a, a.is_leaf)
(a * a).mean().backward()
# %% [markdown] en
# Giving a leaf new values has nothing to do with gradients. So do it where nothing is recorded, and the
# leaf remains a leaf:
# %% [markdown] zh
# 给叶子换一组数值，本来就和梯度无关。所以应当在不记录的环境里写，叶子也就还是叶子：
# %%
a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
with torch.no_grad():
    a[:] = 10.0
(a * a).mean().backward()
print(a.is_leaf, a.grad)
# %% [markdown] en
# ## A graph for one pass
#
# Each forward pass builds a new graph, so it may differ every time; `if` and `for` are all you need.
# `backward` dismantles the graph and frees the saved values. (A static graph, as in the first
# TensorFlow, is built once and used until the end.) A second backward finds nothing:
# %% [markdown] zh
# ## 一次性的图
#
# 图在每次前向计算时重新铺设，因此每次都可以不同：用 `if` 和 `for` 就够了。
# `backward` 走过之后，图就被拆掉，保存的值也随之释放。
# （静态图，比如早期的 TensorFlow，则是铺好一次，一直用到最后。）再反向一次，图已经不在了：
# %% raises
a = torch.tensor([3.0, 1.0], requires_grad=True)
loss = (a * a).mean()
loss.backward()
loss.backward()
# %% [markdown] en
# Compute the loss again. `retain_graph=True` is for the rare case in which one graph really has to serve
# twice; the next notebook has an example.
# %% [markdown] zh
# 重新算一遍损失就好。`retain_graph=True` 只用于少数情形：同一张图确实要用两次。
# 下一篇里就有这样的例子。
# %%
loss = (a * a).mean()
loss.backward()
print(a.grad)
