# %% [markdown] en
# # 6. Dynamic and static graphs
#
# Think of the graph as water pipes. A *dynamic* graph is laid while the water flows, piece by piece, and
# taken down after backward. A *static* graph is laid once; from then on you only pour water in at the top.
# This notebook sets the two side by side on one model: what the static graph gains, and what it cannot do.
# %% [markdown] zh
# # 6. 动态图与静态图
#
# 把计算图想成水管。*动态图*一边通水一边铺管，铺一段通一段，反向之后就全部拆掉；
# *静态图*先把管道铺好，以后只管从入口加水。
# 本篇用同一个模型把两者摆在一起看：静态图快在哪里，又有什么做不到。
# %%
import copy

import tinynet as torch
from tinynet import board, nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 2), torch.randn(8, 1)


def step(x, y):
    optimizer.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    return loss


# %% [markdown] en
# ## The dynamic graph: built at each step, gone after it
#
# Each operation runs at once and adds its node. Here is the graph that one forward leaves behind:
# %% [markdown] zh
# ## 动态图：每一步现搭，用完即拆
#
# 每个运算立即执行，同时接上自己的节点。一次前向之后，留下的就是这张图：
# %%
loss = (net(x) - y).square().mean()
board.draw(loss)
# %% [markdown] en
# Backward goes through it once and frees what it held. To go through it again, you would have to build it
# again:
# %% [markdown] zh
# 反向传播走一遍，图里保存的东西随即释放。想再走一遍，就得从头再搭：
# %%
loss.backward()
# %% raises
loss.backward()
# %% [markdown] en
# ## The static graph: laid once, used again and again
#
# `torch.compile` makes a static graph from the dynamic one. The first two calls run as always, and every
# computation is noted: forward, backward, and the optimizer's writes. If both calls did the same, the notes
# become a program, and from the third call on only the program runs. Starting from the same weights, both
# kinds of steps give the same losses, to the last bit:
# %% [markdown] zh
# ## 静态图：铺一次，反复用
#
# `torch.compile` 从动态图得到静态图。头两次调用照常执行，同时把每一笔计算记下来：
# 前向、反向、优化器的写入，一样不落。两次记录完全一致，就定稿成一段程序；从第三次起，只运行这段程序。
# 从同样的权重出发，两种走法的损失一个比特都不差：
# %%
weights = copy.deepcopy(net.state_dict())
dynamic_losses = [step(x, y).item() for _ in range(6)]

net.load_state_dict(weights)
static = torch.compile(step)
static_losses = [static(x, y).item() for _ in range(6)]
print(static_losses == dynamic_losses)
# %% [markdown] en
# The static step never builds the graph above, so its result shows a single node for all of it:
# %% [markdown] zh
# 静态的一步根本不搭上面那张图，所以它的结果背后只有一个节点，代表全部计算：
# %%
print(step(x, y).grad_fn.name(), static(x, y).grad_fn.name())
# %% [markdown] en
# ## What it gains, measured
#
# Building the graph costs time: Python calls for each operation, node, module and gradient. The program
# has none of them. The arithmetic stays the same. So the gain is largest where a step consists of many
# small operations, and vanishes where it consists of a few large ones. Both kinds of steps take turns here,
# so that other work on the machine affects both alike:
# %% [markdown] zh
# ## 快在哪里：实测
#
# 搭图要花时间：每个运算、节点、模块、梯度，都有若干次 Python 调用。程序里没有这些，要算的数却一个不少。
# 所以一步里零碎的运算越多，赚得越多；只有几个大运算的话，就所剩无几。
# 下面让两种走法轮流上场，机器上若有别的活，大家受的影响也一样：
# %%
from statistics import median
from time import perf_counter


def compare(name, model, x):
    def step(x):
        loss = model(x).square().mean()
        loss.backward()
        return loss

    static, times = torch.compile(step), ([], [])
    for _ in range(25):
        for kind, found in zip((step, static), times, strict=True):
            start = perf_counter()
            for _ in range(5):
                model.zero_grad()
                kind(x)
            found.append((perf_counter() - start) / 5)
    dynamic, static = (median(found[1:]) * 1e6 for found in times)
    print(f"{name:16} dynamic {dynamic:5.0f} µs    static {static:5.0f} µs")


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([0.5, 0.9]))

    def forward(self, x):
        for _ in range(50):
            x = (self.w * x + 1).tanh()
        return x


def perceptron(width):
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))


compare("150 small steps", Loop(), torch.ones(2))
compare("perceptron 16", perceptron(16), torch.randn(16, 16))
compare("perceptron 512", perceptron(512), torch.randn(256, 512))


# %% [markdown] en
# ## What it cannot do
#
# Pipes that are laid cannot lay themselves anew. In the following function, the numbers decide how often
# the loop runs. The dynamic graph has no difficulty: it gets as many nodes as the loop had rounds. Here
# three, so the gradient is $1/2^3$:
# %% [markdown] zh
# ## 做不到的事
#
# 铺好的管子不会自己改道。下面的函数里，循环几轮由数值决定。动态图毫不为难：
# 转了几轮，图上就有几个节点。这里是三轮，所以梯度是 $1/2^3$：
# %%
def halved(x):
    while x.norm() > 1:
        x = x / 2
    return x


a = torch.tensor([3.0, 4.0], requires_grad=True)
halved(a).sum().backward()
print(a.grad)
# %% [markdown] en
# A program with three halvings would be wrong for other vectors. So the function is not compiled. With
# `fullgraph=True`, that is an error:
# %% [markdown] zh
# 把“减半三次”定死成程序，换一个向量就错了，所以这个函数不会被编译。加上 `fullgraph=True`，就直接报错：
# %% raises
torch.compile(halved, fullgraph=True)(a)
# %% [markdown] en
# Without it, the function runs as always, and its results stay right. One warning names the line, the
# reason and the remedy:
# %% [markdown] zh
# 不加的话，函数照常运行，结果照样正确，只给一次警告，写明哪一行、为什么、怎么改：
# %%
slow = torch.compile(halved)
vectors = [torch.tensor([0.0, size]) for size in (1.0, 4.0, 6.0, 16.0)]
for v in vectors:
    print(slow(v))


# %% [markdown] en
# The remedy is to let operations decide, instead of Python. The number of halvings is
# $\lceil \log_2 |x| \rceil$, and at least 0. Written that way, the same program serves every vector:
# %% [markdown] zh
# 办法是把判断交给运算，不交给 Python。减半的次数是 $\lceil \log_2 |x| \rceil$，最少 0 次。
# 这样写，一段程序对所有向量都成立：
# %%
@torch.compile
def fast(x):
    return x / 2 ** x.norm().log2().ceil().clamp(min=0)


for v in vectors:
    print(fast(v))
# %% [markdown] en
# ## What else must stay the same: guards
#
# A program is right only as long as what it was made from holds. Before each run, it checks its *guards*:
# shapes, dtypes, `training`, `requires_grad`, and each global variable that the function read. If one of
# them has changed, the function is recorded anew, and from then on there is a program for either case:
# %% [markdown] zh
# ## 还有什么必须不变：守卫
#
# 程序只在当初的前提还成立时才是对的。每次运行之前，它先核对一遍*守卫*（guard）：
# 形状、dtype、`training`、`requires_grad`，还有函数读过的每个全局变量。哪一条变了，
# 就重新记录；往后两种情况各有各的程序。
# %%
scale = 1.0


@torch.compile
def scaled(x):
    return x * scale


for value in (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0):
    scale = value
    print(scaled(torch.ones(1)).item(), end=" ")
# %% [markdown] en
# Effects on Python objects cannot be repeated either: a `print`, a counter, an item appended to a list.
# Return the value instead, and do the rest outside:
# %% [markdown] zh
# 对 Python 对象的改动也无法重放：`print`、计数器、往列表里添东西，都是。
# 应当把值返回来，其余的放到函数外面做：
# %% raises
history = []


def noted(x):
    history.append(x)
    return x.sum()


torch.compile(noted, fullgraph=True)(torch.ones(2))
# %% [markdown] en
# ## In short
#
# | | dynamic | static |
# |---|---|---|
# | built | at each step | once, from two calls |
# | `if`, `while` on values | as in any program | `torch.where`, `clamp`, masks |
# | `print`, debugger, hooks | between any two lines | outside of the function |
# | new shapes | nothing to do | one more program |
# | many small operations | Python takes most of the time | several times as fast |
# | a few large operations | arithmetic takes most of the time | about the same |
#
# Write and debug dynamically. When the step is right, put `@torch.compile` above it.
# %% [markdown] zh
# ## 小结
#
# | | 动态图 | 静态图 |
# |---|---|---|
# | 何时搭建 | 每一步 | 只搭一次，来自头两次调用 |
# | 按数值走的 `if`、`while` | 和普通程序一样 | `torch.where`、`clamp`、掩码 |
# | `print`、调试器、钩子 | 哪两行之间都行 | 放到函数外面 |
# | 换了形状 | 不用管 | 多一段程序 |
# | 运算多而小 | 时间大半花在 Python 上 | 快几倍 |
# | 运算少而大 | 时间大半花在计算上 | 差不多 |
#
# 写代码、查错用动态图；等这一步写对了，再在上面加一行 `@torch.compile`。
