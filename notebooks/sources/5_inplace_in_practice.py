# %% [markdown] en
# # 5. Writing in place, in practice
#
# Training takes three lines: compute a loss, `loss.backward()`, `optimizer.step()`. The third one writes
# to the parameters in place, so writes cannot simply be forbidden. This notebook explains the two rules,
# and what to do in each case.
#
# 1. Do not apply in-place operations to a leaf that requires grad.
# 2. Do not write to a value that backward needs before backward has run.
# %% [markdown] zh
# # 5. 原地写入的实践
#
# 训练就是三行：算损失，`loss.backward()`，`optimizer.step()`。第三行正是原地改写参数，
# 可见写入不可能一概禁止。本篇讲清两条规则，以及每种情形该怎么写。
#
# 1. 需要梯度的叶子，不能对它做原地运算。
# 2. 反向传播要用的值，在反向之前不能改写。
# %% [markdown] en
# ## The first rule: leaves
#
# All parameters of modules are such leaves. Suppose we want to initialize one:
# %% [markdown] zh
# ## 第一条：叶子
#
# 模块的参数全都是这样的叶子。比如想给一个参数做初始化：
# %% raises
import tinynet as torch
from tinynet import board, nn

w = torch.zeros(4, requires_grad=True)
w.normal_()
# %% [markdown] en
# The message shows the line and the fix: giving a leaf new values is not part of the computation, so do
# it where nothing is recorded. `nn.init` does just that. A write through `.data` has the same effect
# here; it is the older style.
# %% [markdown] zh
# 报错里写明了位置和办法：给叶子换数值不是计算的一部分，所以应当在不记录的环境里写。
# `nn.init` 里的函数就是这么做的。通过 `.data` 写，在这里效果相同，是老写法。
# %%
torch.manual_seed(0)
with torch.no_grad():
    w.normal_()
print(w.is_leaf, w._version)
nn.init.normal_(w)
w.data.normal_()
print(w.is_leaf, w.requires_grad, w.data.requires_grad)
# %% [markdown] en
# ## The second rule: saved values
#
# $d = x w_1$, $f = d\,w_2$. The gradient of $f$ with respect to $w_2$ is $d$, so the second product saves
# `d`. Setting it to zero afterwards pulls the rug out from under backward:
# %% [markdown] zh
# ## 第二条：保存的值
#
# $d = x w_1$，$f = d\,w_2$。$f$ 对 $w_2$ 的梯度就是 $d$，所以第二个乘法留着 `d`。
# 之后再把它清零，对反向传播来说就是釜底抽薪：
# %% raises
x = torch.tensor([1.0, 2.0])
w1 = torch.tensor([[2.0], [1.0]], requires_grad=True)
w2 = torch.tensor([3.0], requires_grad=True)
d = torch.matmul(x, w1)
f = torch.matmul(d, w2)
d[:] = 0
f.backward()
# %% [markdown] en
# Before it is saved, `d` may be written: the computation then uses the zeros, and so do the gradients.
# %% [markdown] zh
# 在保存之前改写 `d` 则没有问题：参与计算的就是零，梯度也如实反映。
# %%
d = torch.matmul(x, w1)
d[:] = 0
f = torch.matmul(d, w2)
f.backward()
print(w1.grad.flatten(), w2.grad)
board.draw(f, names={"w1": w1, "w2": w2})
# %% [markdown] en
# ## `.data` or `.detach()`?
#
# Both return the values without the history, in the same memory. They differ in the version: `detach()`
# shares it, so a write is detected. `.data` has its own, so a write goes unnoticed. A sigmoid saves its
# output. Here a write through `.data` sets it to zero, and the gradient is silently wrong: 0 instead of
# $\sigma(a)(1 - \sigma(a))$.
# %% [markdown] zh
# ## 用 `.data` 还是 `.detach()`？
#
# 两者都给出不带历史的数值，共用同一块内存。区别在版本号：`detach()` 共用版本号，
# 写入会被发现；`.data` 另起一个，写入不会被发现。sigmoid 保存的是自己的输出。
# 下面通过 `.data` 把它清零，梯度就悄悄错了：得到 0，而不是 $\sigma(a)(1 - \sigma(a))$。
# %%
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
out = a.sigmoid()
c = out.data
c.zero_()
out.sum().backward()
print("got:   ", a.grad)
print("wanted:", (a.sigmoid() * (1 - a.sigmoid())).detach())
# %% raises
a.grad = None
out = a.sigmoid()
c = out.detach()
c.zero_()
out.sum().backward()
# %% [markdown] en
# If you suspect such a write, use `autograd.checked()`: it fingerprints saved values and so detects writes
# that no version counts, whether through `.data` or through numpy.
# %% [markdown] zh
# 怀疑哪里有这样的写入？在 `autograd.checked()` 里，保存的值都会留下指纹，
# 版本号数不到的写入也能发现，不管是通过 `.data` 还是通过 numpy。
# %% raises
with torch.autograd.checked():
    out = a.sigmoid()
out.data.zero_()
out.sum().backward()
# %% [markdown] en
# ## An embedding that writes when it reads
#
# `nn.Embedding(max_norm=1)` rescales the rows that it looks up, in the weight itself. So a lookup *is* a
# write, and the order matters. Here the product saves the weight, and then the lookup rescales two of its
# rows. Nothing in these lines looks like a write, but the message identifies it:
# %% [markdown] zh
# ## 查表即写入的嵌入层
#
# `nn.Embedding(max_norm=1)` 会把查到的行缩短，直接改在权重里。所以“查表”*就是*写入，
# 先后顺序很重要。下面的乘法先保存了权重，随后查表又缩放了其中两行。
# 这几行代码看上去没有任何写入，报错却能指出来：
# %% raises
embedding = nn.Embedding(3, 5, max_norm=1)
W = torch.randn((7, 5), requires_grad=True)
index = torch.tensor([1, 2])
a = embedding.weight @ W.t()
b = embedding(index) @ W.t()
loss = (a.unsqueeze(0) + b.unsqueeze(1)).sigmoid().prod()
loss.backward()
# %% [markdown] en
# The lookup does not affect a copy. (Looking up first works as well.)
# %% [markdown] zh
# 用一份副本，查表就碰不到它了。（先查表、后相乘也行。）
# %%
with torch.no_grad():
    embedding.weight.mul_(3)
a = embedding.weight.clone() @ W.t()
b = embedding(index) @ W.t()
loss = (a.unsqueeze(0) + b.unsqueeze(1)).sigmoid().prod()
loss.backward()
print(embedding.weight.norm(dim=1).detach(), W.grad.shape)
# %% [markdown] en
# ## In short
#
# | you want to | write |
# |---|---|
# | set or update a parameter | `with torch.no_grad(): w -= lr * w.grad` |
# | change a result that is still needed | `b = b.clone()` first, or `torch.where(mask, new, b)` |
# | fill a buffer in a loop | a list of parts, and `torch.stack` after the loop |
# | look at values without a history | `x.detach()`, not `x.data` |
# | find out what wrote | read the lines `saved`, `changed`, `needed` of the message |
#
# `examples/inplace.py` has fifteen such situations, each broken and fixed.
# %% [markdown] zh
# ## 小结
#
# | 想做的事 | 写法 |
# |---|---|
# | 设置或更新参数 | `with torch.no_grad(): w -= lr * w.grad` |
# | 改写之后还要用到的结果 | 先 `b = b.clone()`，或者 `torch.where(mask, new, b)` |
# | 在循环里填一个缓冲区 | 收集成列表，循环之后 `torch.stack` |
# | 取不带历史的数值 | `x.detach()`，而不是 `x.data` |
# | 查出是哪里写的 | 看报错里的 `saved`、`changed`、`needed` 三行 |
#
# `examples/inplace.py` 里有十五种这样的情形，各有错误和正确的写法。
