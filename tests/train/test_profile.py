"""Where the time of a step goes: `tinynet profile`, and the costs that a recording has."""

import json
import re

import pytest

import tinynet as tn
from tinynet import board, nn, optim
from tinynet.board.graphs.costs import OUTSIDE, totals
from tinynet.train.cli import main

NET = """
from tinynet import nn

class Net(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.body = nn.Linear(64, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        hidden = self.body(x.flatten(1)).relu()
        return self.head(hidden)
"""


class Twice(nn.Module):
    """Calls one module twice, and computes something itself."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.layer(x)) * 2


def recorded(model, *inputs):
    sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with board.record(model) as rec:
        loss = F.mse_loss(model(*inputs), tn.zeros(8, 4))
        loss.backward()
        sgd.step()
    return rec


F = nn.functional


def test_each_module_has_its_own_costs():
    rec = recorded(Twice(), tn.ones(8, 4))
    found = totals(rec.costs, lambda cost: cost.module)
    assert set(found) == {"layer", "", OUTSIDE}
    assert found["layer"].flops == 2 * 2 * 8 * 4 * 4  # both calls
    assert found["layer"].memory == 2 * 8 * 4 * 4
    assert found[""].memory == 8 * 4 * 4  # the product with 2
    assert min(found["layer"].forward, found["layer"].backward, found["layer"].update) > 0
    assert (found[""].flops, found[""].update) == (0, 0)
    assert rec.classes == {"": "Twice", "layer": "Linear"}
    whole = sum(cost.time for cost in rec.costs)
    assert whole == sum(total.time for total in found.values())


def test_costs_are_those_before_folding():
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(12)))
    sgd = optim.SGD(model.parameters(), lr=0.1)
    with board.record(model, max_nodes=10) as rec:
        model(tn.ones(8, 4)).sum().backward()
        sgd.step()
    assert rec.notes
    found = totals(rec.costs, lambda cost: cost.module)
    assert {str(n) for n in range(12)} <= set(found)
    assert {found[str(n)].flops for n in range(12)} == {2 * 8 * 4 * 4}


def test_a_second_model_has_paths_of_its_own():
    one, other = nn.Sequential(nn.Linear(4, 4)), nn.Sequential(nn.Linear(4, 4))
    with board.record(first=one, second=other) as rec:
        other(one(tn.ones(2, 4)))
    assert [cost.module for cost in rec.costs] == ["0", "second.0"]


def test_profile(write, digits, capsys):
    config = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    assert main(["profile", write(config, net=NET), "--steps", "3"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(r"%.* 4.1 kB +body \(Linear\)$", out, re.M)
    assert re.search(r"%.* net.py:12 in forward: return self.head\(hidden\)$", out, re.M)
    shares = [float(found) for found in re.findall(r"^ *([\d.]+) %", out, re.M)]
    assert sum(shares) == pytest.approx(200, abs=1)  # two tables


def test_profile_for_programs(write, digits, capsys, tmp_path):
    path = write(digits)
    assert main(["profile", path, "--steps", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["module"]: row for row in found["modules"]}
    assert rows["1"]["type"] == "Linear" and rows["1"]["flops"] == 2 * 57 * 64 * 16
    assert found["step_seconds"] > 0 and found["batch_seconds"] > 0
    assert [p.name for p in tmp_path.iterdir()] == [path]


def test_profile_refuses(write, digits, capsys):
    path = write(digits)
    assert main(["profile", path, "--steps", "0"]) == 2
    assert "--steps must be at least 1, got 0" in capsys.readouterr().err
    assert main(["profile", path, "optimizer.lrr=1", "model.sizes=3"]) == 2
    err = capsys.readouterr().err
    assert "did you mean 'lr'?" in err and "2 mistakes; nothing was written." in err
