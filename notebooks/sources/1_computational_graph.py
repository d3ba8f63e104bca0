# %% [markdown] en
# # 1. The graph behind a result
#
# Water runs from a tap through pipes to a drain. A program that computes with tensors is laid out
# like this: values run forward through operations to a loss. Autograd keeps the layout, and sends
# gradients through it the other way. Nobody draws the pipes beforehand; computing lays them.
#
# This notebook shows the layout: what its parts are, how to read it, and which writes break it.
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
# There are **tensors**, which hold values, and **nodes**, which know how to send a gradient back
# through one operation. `b.grad_fn` is the node that belongs to `exp`. `board.draw` draws what
# `backward` would walk through: arrows point the way that gradients go.
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
# The node wrote down `saved result`: the derivative of $e^x$ is $e^x$ itself, so backward needs the
# value that went out. Other operations need what came in, and some need nothing. Remember this line
# of the box; the commonest error is about it.
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
# Read it from the top. The loss splits into two branches at `l4 = l2 * l3`, and both come together
# again at `l1`, where their gradients are added. Note what is missing: `x` requires no gradient, so
# no arrow ends there; and the node of `l2 = l1 + w2` saved nothing, because a sum passes gradients
# on as they are.
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
# Only `w1`, `w2` and `w3` got a `.grad`: they are **leaves**, made by you and not by an operation. A
# tensor without `requires_grad` counts as a leaf, too. What is between leaves and loss lets its
# gradient go as soon as it has been passed on; notebook 4 shows how to look at it all the same.
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
# `a = a.exp()` makes a new tensor and gives it the old name, as `i = i + 1` does. `a[0] = 10` changes
# the memory of the tensor that is there, as `items[0] = 10` changes a list: that is **in place**.
# Each write adds one to the tensor's version, and that is how it is noticed.
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
# A product saves its inputs. If one of them is written before backward, the saved value is no longer
# what it was, and a gradient made from it would be wrong. So `backward` refuses:
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
# The first sentence is PyTorch's. The lines below it say where the value was saved, where it was
# changed, where it was needed, and what to write instead. The picture shows the same from the other
# side: the product saved version 0, and now there is version 1.
# %% [markdown] zh
# 第一句和 PyTorch 的报错一字不差；下面几行说明：值是在哪里保存的（saved），在哪里被改的
# （changed），在哪里要用（needed），以及应该怎么写（fix）。
# 图是从另一个角度看同一件事：乘法保存的是版本 0，而现在已经是版本 1。
# %%
board.draw(loss, names={"a": a})
# %% [markdown] en
# If nobody needs the value, nobody minds: `a + 2` saves nothing, so its result may be written.
#
# ## A leaf that is written
#
# Leaves are stricter, for they are where gradients arrive. To compute with one in place is refused
# at once. To assign to a part of it is recorded, as for every other tensor, but then the tensor is a
# result, no leaf: the backward that arrives there has nowhere to put the gradient, and says so.
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
# New values for a leaf are nothing that gradients should know of. So they are written where nothing
# is recorded, and the leaf remains one:
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
# The graph is laid anew in each pass, so it may be another one each time: `if` and `for` are all that
# is needed. And it is taken down by `backward`, which frees what was saved. (A static graph, as in
# the first TensorFlow, is laid once and used until the end.) A second backward finds it gone:
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
# Compute the loss again, and all is well; `retain_graph=True` is for the rare case that one graph
# really has to serve twice. The next notebook has such a case.
# %% [markdown] zh
# 重新算一遍损失就好。`retain_graph=True` 只用于少数情形：同一张图确实要用两次。
# 下一篇里就有这样的例子。
# %%
loss = (a * a).mean()
loss.backward()
print(a.grad)
