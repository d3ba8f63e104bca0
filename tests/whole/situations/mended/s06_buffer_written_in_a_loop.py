"""A buffer is read and written in a loop

Each product saves the row that it read; the next write moves the version of the whole buffer.
Collect the rows and stack them.
"""

import tinynet as tn

w = tn.ones(3, requires_grad=True)
rows = [tn.ones(3)]
for _ in range(1, 4):
    rows.append(rows[-1] * w)
tn.stack(rows).sum().backward()

assert w.grad.tolist() == [6, 6, 6]  # 1 + 2 + 3
