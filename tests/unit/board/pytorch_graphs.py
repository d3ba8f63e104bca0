"""What `add_graph` writes, raises and prints: in PyTorch, recorded, and in tinynet.

`python -m tests.unit.board.pytorch_graphs` records PyTorch's answers in pytorch_graphs.json.
"""

import contextlib
import io
import json
import re
import tempfile
import warnings
from pathlib import Path

from tests.unit.board import reader

ANSWERS = Path(__file__).parent / "pytorch_graphs.json"


def cases(torch):
    """Name -> model, input and options, made with `torch`: PyTorch or tinynet."""
    nn, F = torch.nn, torch.nn.functional

    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.act, self.fc2 = nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)

        def forward(self, x):
            return self.fc2(self.act(self.fc1(x)))

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
            self.drop, self.fc = nn.Dropout(0.5), nn.Linear(36, 2)

        def forward(self, image):
            x = F.max_pool2d(F.relu(self.bn(self.conv(image))), 2)
            return self.fc(self.drop(torch.flatten(x, 1)))

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb, self.fc = nn.Embedding(10, 4), nn.Linear(6, 2)
            self.lstm = nn.LSTM(4, 6, batch_first=True)

        def forward(self, tokens):
            states, _ = self.lstm(self.emb(tokens))
            return self.fc(states[:, -1])

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(self.fc(x))

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 2), nn.Linear(4, 2)
            self.register_buffer("scale", torch.ones(2))

        def forward(self, left, right):
            return self.a(left) * self.scale, self.b(right) + 1

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

        def forward(self, x):
            return x + self.body(x)

    class Nested(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])
            self.heads = nn.ModuleDict({"a": nn.Linear(4, 2)})

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.heads["a"](x)

    class Dict(Twice):
        def forward(self, x):
            return {"y": self.fc(x)}

    class DictInTuple(Twice):
        def forward(self, x):
            return x + 1, {"y": self.fc(x)}

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self):
            return self.w * 2

    class Norm(nn.Module):
        """Refuses one sample while it trains."""

        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))

        def forward(self, x):
            return self.net(x)

    class Hooked(Twice):
        """Asks for a graph of autograd."""

        def forward(self, x):
            y = self.fc(x)
            y.register_hook(lambda grad: None)
            return y * 2

    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("no")

    x = torch.ones(2, 4)
    return {
        "linear": (nn.Linear(4, 2), x),
        "sequential": (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), [x]),
        "mlp": (MLP(), x),
        "an input that requires grad": (MLP(), torch.ones(2, 4, requires_grad=True)),
        "cnn": (CNN(), torch.ones(2, 1, 8, 8)),
        "reader": (Reader(), torch.ones(2, 5, dtype=torch.int64)),
        "twice": (Twice(), (x,)),
        "two": (Two(), (x, x + 1)),
        "nested": (Nested(), x),
        "dict, not strict": (Dict(), x, {"use_strict_trace": False}),
        "no arguments": (Constant(), ()),
        "one sample for batch norm": (Norm(), x[:1]),
        "a hook on a tensor": (Hooked(), x),
        "dict": (Dict(), x),
        "dict in a tuple": (DictInTuple(), x),
        "no input": (MLP(), None),
        "no input, none needed": (Constant(), None),
        "a wrong shape": (MLP(), torch.ones(2, 5)),
        "too many arguments": (MLP(), (x, x)),
        "a dict for a tensor": (MLP(), {"x": x}),
        "an error of the model": (Fails(), x),
        "a function": (lambda x: x, x),
        "None": (None, x),
        "an unknown option": (MLP(), x, {"operator_export_type": 1}),
    }


def answer(writer_of, model, given, options=None):
    """What came of one call: names and scopes of the graph, or the error and what was printed."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, writer_of(folder) as writer:
        try:
            with contextlib.redirect_stdout(printed):
                returned = writer.add_graph(model, given, **options or {})
        except Exception as error:
            lines = printed.getvalue().splitlines()
            return {
                "error": type(error).__name__,
                "says": str(error).partition("\n")[0],
                "printed": [lines[0], lines[-1]] if lines else [],
            }
        writer.flush()
        (graph,) = reader.graph_defs(folder)
    assert (returned, printed.getvalue(), model.training) == (None, "", True)
    return named(graph)


def named(graph):
    """Inputs, outputs, parameters and scopes of operations, by what both sides call alike.

    PyTorch's tracer adds numbers to names that it has used before, has a scope for each parameter,
    leaves containers out of the scopes of operations, and puts all calls of a module into one. Its
    dropout is an operation in evaluation mode, too.
    """
    found = {"inputs": [], "outputs": [], "parameters": [], "scopes": []}
    for node in graph.node:
        scope, _, name = node.name.rpartition("/")
        if node.op in ("IO Node", "Input", "Output"):
            kind = "outputs" if scope.startswith("output") else "inputs"
            plain = name if kind == "outputs" else re.sub(r"\.\d+$", "", name)
            found[kind].append(f"{scope}/{plain}")
        elif node.op in ("Parameter", "Buffer"):
            found["parameters"].append(node.name)
        elif node.op == "prim::GetAttr":
            found["parameters"].append(scope)
        elif node.op.partition("::")[0] not in ("prim", "Const") and node.op != "aten::dropout":
            scope = re.sub(r"Module(List|Dict)\[\w+\]/", "", scope)
            found["scopes"].append(re.sub(r"\]_\d+", "]", scope))
    return {key: sorted(set(names)) for key, names in found.items()}


def answers_of_pytorch():
    """The answers of the PyTorch that is installed."""
    import torch
    from torch.utils.tensorboard import SummaryWriter

    with warnings.catch_warnings():  # the tracer's
        warnings.simplefilter("ignore")
        return {name: answer(SummaryWriter, *case) for name, case in cases(torch).items()}


if __name__ == "__main__":
    ANSWERS.write_text(json.dumps(answers_of_pytorch(), indent=1) + "\n", encoding="utf-8")
