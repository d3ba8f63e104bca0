"""Captured functions of programs that import torch: classes have other names there."""

import subprocess
import sys

PROGRAM = """
import tinynet.as_torch
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4, 3)

    def forward(self, x):
        places = torch.arange(0, x.size(1), dtype=torch.long, device=x.device)
        window = torch.hann_window(3, device=x.device)  # loads its module while it is captured
        return nn.functional.relu(self.embedding(x) + self.embedding(places)) * window

generator = torch.Generator().manual_seed(1)
model, alone = Model(), Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

@torch.compile(verify=2, fullgraph=True)
def step(x):
    optimizer.zero_grad()
    noise = torch.randn(3, generator=generator)
    loss = (model(x) * noise).sum()
    loss.backward()
    optimizer.step()
    return loss

alone.compile(fullgraph=True)
for i in range(6):
    if i == 3:
        nn.functional.hardswish(torch.ones(1))  # is loaded
    alone(torch.ones(1, 2, dtype=torch.long))
    step(torch.ones(1, 2, dtype=torch.long))
print(alone.forward.explain().calls, step.calls())
"""


def test_programs_are_captured_under_the_name_of_torch():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    calls = "Calls(replayed=4, captured=2, eager=0)"
    assert (done.stdout, done.stderr) == (f"{calls} {calls}\n", "")
