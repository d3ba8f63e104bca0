# %% [markdown] en
# # 4. Looking inside: leaves, kept gradients, hooks, versions
#
# After `backward`, only leaves have gradients. This notebook shows two ways to inspect intermediate
# gradients, and the number that counts writes.
# %% [markdown] zh
# # 4. 看看里面：叶子、保留的梯度、钩子、版本号
#
# `backward` 之后，只有叶子有梯度。本篇介绍两种查看中间梯度的办法，
# 以及那个记录“写过几次”的数字。
# %%
import tinynet as torch
from tinynet import board

x = torch.ones(2, 2)
w1 = torch.tensor(2.0, requires_grad=True)
w2 = torch.tensor(3.0, requires_grad=True)
w3 = torch.tensor(3.0, requires_grad=True)


def compute():
    l1 = x * w1
    l2 = l1 + w2
    l3 = l1 * w3
    l4 = l2 * l3
    return l1, l4, l4.mean()


l1, l4, loss = compute()
loss.backward()
for name, tensor in {"w1": w1, "w2": w2, "w3": w3}.items():
    print(name, tensor.data, tensor.grad, tensor.grad_fn)
# %% [markdown] en
# A leaf has no `grad_fn`, and a result has no `.grad`. Reading the gradient of a result is so often a
# mistake that it raises a warning:
# %% [markdown] zh
# 叶子没有 `grad_fn`，中间结果没有 `.grad`。向中间结果要梯度多半是写错了，所以会有警告：
# %%
print(loss.grad_fn is not None, loss.grad)
# %% [markdown] en
# ## Keep it: `retain_grad`
#
# Call it before backward, and the result keeps the gradient that arrives.
# %% [markdown] zh
# ## 留下来：`retain_grad`
#
# 在反向之前调用，中间结果就会留住到达的梯度。
# %%
l1, l4, loss = compute()
for tensor in (l1, l4, loss):
    tensor.retain_grad()
loss.backward()
print(loss.grad)
print(l4.grad)
print(l1.grad)
# %% [markdown] en
# Check: the mean of four numbers passes 1/4 to each. The derivative of $l_4 = (l_1 + w_2)\,l_1 w_3$ is
# $(2 l_1 + w_2)\,w_3 = 21$, and a quarter of it is 5.25.
#
# ## Only look: `register_hook`
#
# Backward calls a hook when the gradient passes, and keeps nothing. The order is that of backward: from
# the loss down.
# %% [markdown] zh
# 验算：四个数的平均值把 1/4 传给每个元素。$l_4 = (l_1 + w_2)\,l_1 w_3$ 的导数是
# $(2 l_1 + w_2)\,w_3 = 21$，它的四分之一正是 5.25。
#
# ## 只看一眼：`register_hook`
#
# 梯度经过时调用钩子，什么也不留。调用的顺序就是反向传播的顺序：从损失往下。
# %%
l1, l4, loss = compute()
loss.register_hook(lambda gradient: print("loss:", gradient))
l4.register_hook(lambda gradient: print("l4:  ", gradient[0]))
l1.register_hook(lambda gradient: print("l1:  ", gradient[0]))
loss.backward()
print("kept:", loss.retains_grad)
# %% [markdown] en
# The return value of a hook replaces the gradient for everything below it. This hook lets nothing above
# 0.1 pass `l4`:
# %% [markdown] zh
# 钩子的返回值会取代原来的梯度，影响它下面的一切。下面这个钩子不让超过 0.1 的梯度通过 `l4`：
# %%
w1.grad = None
l1, l4, loss = compute()
handle = l4.register_hook(lambda gradient: gradient.clamp(max=0.1))
loss.backward()
print("clipped:", w1.grad)
handle.remove()
# %% [markdown] en
# ## What in place means
#
# The name shows it: a method that ends in `_` changes the tensor that it is called on; so do assignments
# to parts, and `+=`. Everything else returns a new tensor. `_version` counts the writes.
# %% [markdown] zh
# ## 什么叫原地操作
#
# 看名字就知道：以 `_` 结尾的方法改写调用它的张量，给一部分赋值和 `+=` 也是；
# 其他写法都产生新张量。`_version` 数的就是写入次数。
# %%
a = torch.tensor([3.0, 1.0])
before = a
a = a.exp()
print("exp:     new tensor:", a is not before, " version:", a._version)
before = a
a[0] = 10
print("a[0]=10: new tensor:", a is not before, " version:", a._version)
a += 1
print("a += 1:  new tensor:", a is not before, " version:", a._version)
# %% [markdown] en
# A part of a tensor shares its memory, and therefore its version: a write through either counts for both.
# %% [markdown] zh
# 张量的一部分和整体共用内存，因此也共用版本号：从哪一边写，两边都算写过一次。
# %%
base = torch.zeros(2, 2)
row = base[0]
row.fill_(7)
print(base, base._version, row._version)
# %% [markdown] en
# Backward compares versions when it needs a saved value. In this graph, the product saved `b` at
# version 0:
# %% [markdown] zh
# 反向传播要用保存的值时，就会比对版本号。下图里，乘法保存的是版本 0 的 `b`：
# %%
a = torch.tensor([1.0, 3.0], requires_grad=True)
b = a + 2
print(b._version)
loss = (b * b).mean()
b[0] = 1000.0
print(b._version)
board.draw(loss, names={"a": a})
# %% raises
loss.backward()
# %% [markdown] en
# ## A leaf that became a result
#
# An assignment to a whole leaf is recorded as a `CopySlices`: `a` is now the result of that write. The
# bottom of the picture is where the leaf used to receive gradients; there is no longer a leaf to receive
# them.
# %% [markdown] zh
# ## 变成结果的叶子
#
# 给叶子整体赋值会被记录成一个 `CopySlices`：现在的 `a` 来自这次写入。
# 图的最底端是叶子原先接收梯度的地方，如今那里已经没有叶子可以接收了。
# %%
a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
print(a, a.is_leaf)
a[:] = 0
a.add_(10.0)
print(a, a.is_leaf)
board.draw(a)
# %% raises
loss = (a * a).mean()
loss.backward()
# %% [markdown] en
# A second backward fails as usual, because the first one has freed what it used:
# %% [markdown] zh
# 再来一次，第一次反向用过的东西照例已经没了：
# %% raises
loss.backward()
# %% [markdown] en
# To compute with changed values, change a copy; the leaf remains unchanged.
# %% [markdown] zh
# 想用改过的数值做计算，就改一份副本；叶子保持原样。
# %%
a = torch.tensor([10.0, 5.0, 2.0, 3.0], requires_grad=True)
changed = a.clone()
changed[:2] = 0
(changed * changed).mean().backward()
print(a.is_leaf, a.grad)
board.draw(changed, names={"a": a})
