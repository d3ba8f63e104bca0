"""Counts of floating-point operations, against PyTorch 2.13's."""

import tinynet as tn
from tinynet import nn
from tinynet.compat.utilities.flop_counter import FlopCounterMode
from tinynet.nn import functional as F


def leaf(*shape):
    return tn.ones(*shape, requires_grad=True)


CALLS = {
    "mm": (lambda: F.linear(leaf(2, 3), leaf(4, 3)), {"mm": 48}),
    "addmm": (
        lambda: F.linear(leaf(2, 3), leaf(4, 3), leaf(4)).sum().backward(),
        {"addmm": 48, "mm": 96},
    ),
    "one factor": (lambda: F.linear(tn.ones(2, 3), leaf(4, 3)).sum().backward(), {"mm": 96}),
    "folded": (lambda: (leaf(2, 3, 4) @ leaf(4, 5)).sum().backward(), {"mm": 720}),
    "batches": (lambda: (leaf(2, 3, 4, 5) @ leaf(2, 3, 5, 6)).sum().backward(), {"bmm": 4320}),
    "einsum": (lambda: tn.einsum("bij,bjk->bik", leaf(2, 3, 4), leaf(2, 4, 5)), {"bmm": 240}),
    "vectors": (lambda: leaf(2, 3) @ leaf(3), {}),
    "transposed": (
        lambda: F.conv_transpose2d(leaf(1, 2, 4, 4), leaf(2, 3, 2, 2)).sum().backward(),
        {"convolution": 768, "convolution_backward": 1536},
    ),
    "groups": (
        lambda: F.conv1d(leaf(1, 2, 8), leaf(4, 1, 3), groups=2).sum().backward(),
        {"convolution": 144, "convolution_backward": 432},
    ),
    "attention": (  # PyTorch's on a GPU
        lambda: F.scaled_dot_product_attention(*[leaf(1, 2, 4, 8) for _ in range(3)]).sum(),
        {"_scaled_dot_product_flash_attention": 1024},
    ),
}


def test_counts_of_operations():
    for name, (call, expected) in CALLS.items():
        with FlopCounterMode(display=False) as counter:
            call()
        counts = counter.get_flop_counts().get("Global", {})
        assert {op.__name__: n for op, n in counts.items()} == expected, name
        assert counter.get_total_flops() == sum(expected.values())


def test_counts_of_modules_and_the_table(capsys):
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.Flatten(), nn.Sequential(nn.Linear(128, 10))
    )
    with FlopCounterMode() as counter:
        net(tn.ones(2, 3, 4, 4)).sum().backward()
    counts = {name: sum(c.values()) for name, c in counter.get_flop_counts().items()}
    whole = 13824 + 13824 + 5120 + 10240
    assert counts == {
        "Global": whole,
        "Sequential": whole,
        "Sequential.0": 27648,
        "Sequential.2": 15360,
        "Sequential.2.0": 15360,
    }
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Module", "FLOP", "%", "Total"]
    assert lines[2].split() == ["Global", "43.008K", "100.00%"]
    assert not any("Sequential.2.0" in line for line in lines)  # deeper than 2
    assert "Sequential.2.0" in counter.get_table(3)
