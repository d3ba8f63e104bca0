"""RNN, LSTM, GRU and their cells."""

from itertools import product

from tests.tools.recorded.layers import Table, f

TABLE = Table("recurrent")

# ---- sequences -----------------------------------------------------------------------------------

OPTIONS = {
    "plain": {},
    "deep": {"num_layers": 2},
    "bidirectional": {"bidirectional": True},
    "deep-bidirectional": {"num_layers": 2, "bidirectional": True},
    "no-bias": {"bias": False, "num_layers": 2},
    "batch-first": {"batch_first": True, "bidirectional": True},
    "dropout": {"num_layers": 2, "dropout": 0.3},
}
LENGTHS = [2, 4, 1, 4, 2]


def states(kind, *shape, projected=None):
    """Inputs for the initial states."""
    if kind != "LSTM":
        return [f(*shape)]
    return [f(*shape[:-1], projected or shape[-1]), f(*shape)]


def from_states(module, x, *state):
    return module(x, state[0] if len(state) == 1 else state) if state else module(x)


def packed(enforce_sorted=False, lengths=LENGTHS):
    def call(module, x, *state):
        lib = __import__(type(x).__module__.split(".")[0])
        utils = lib.nn.utils.rnn
        x = utils.pack_padded_sequence(x, lengths, module.batch_first, enforce_sorted)
        output, last = from_states(module, x, *state)
        return *utils.pad_packed_sequence(output, module.batch_first), output.data, last

    return call


def layer(kind, size=5, **options):
    return lambda lib: getattr(lib.nn, kind)(3, size, **options)


for kind, (name, options) in product(("RNN", "LSTM", "GRU"), OPTIONS.items()):
    depth = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    build = layer(kind, **options)
    train = name != "dropout"  # in training it is random
    TABLE.layer(f"{kind}-{name}", build, f(4, 5, 3), train=train, steps=train)
    batch = 4 if options.get("batch_first") else 5
    state = states(kind, depth, batch, 5)
    if name in ("plain", "deep-bidirectional", "batch-first"):
        TABLE.layer(f"{kind}-{name}-state", build, f(4, 5, 3), *state, call=from_states)
        single = states(kind, depth, 5)
        TABLE.layer(f"{kind}-{name}-unbatched", build, f(4, 3))
        TABLE.layer(f"{kind}-{name}-unbatched-state", build, f(4, 3), *single, call=from_states)
        x = f(5, 4, 3) if options.get("batch_first") else f(4, 5, 3)
        TABLE.layer(f"{kind}-{name}-packed", build, x, call=packed())
        state = states(kind, depth, 5, 5)
        TABLE.layer(f"{kind}-{name}-packed-state", build, x, *state, call=packed())
        ends = [4, 3, 3, 2, 2]
        TABLE.layer(f"{kind}-{name}-packed-sorted", build, x, *state, call=packed(True, ends))
        TABLE.layer(f"{kind}-{name}-packed-equal", build, x, call=packed(True, [3] * 5))

for name in ("plain", "deep-bidirectional", "no-bias", "batch-first"):
    options = OPTIONS[name] | {"proj_size": 2}
    TABLE.layer(f"LSTM-projected-{name}", layer("LSTM", **options), f(4, 5, 3))
state = states("LSTM", 4, 5, 5, projected=2)
build = layer("LSTM", num_layers=2, bidirectional=True, proj_size=2)
TABLE.layer("LSTM-projected-packed", build, f(4, 5, 3), *state, call=packed())

TABLE.layer("RNN-relu", layer("RNN", nonlinearity="relu"), f(4, 5, 3))
TABLE.layer("RNN-relu-deep", layer("RNN", num_layers=2, nonlinearity="relu"), f(4, 5, 3))
TABLE.layer("RNN-relu-reverse", layer("RNN", nonlinearity="relu", bidirectional=True), f(4, 5, 3))
for kind in ("RNN", "LSTM", "GRU"):
    TABLE.layer(f"{kind}-one-step", layer(kind, bidirectional=True), f(1, 1, 3))
    TABLE.layer(f"{kind}-no-batch", layer(kind), f(4, 0, 3))
    TABLE.layer(f"{kind}-last", layer(kind), f(4, 5, 3), call=lambda m, x: m(x)[1])
    TABLE.layer(f"{kind}-output", layer(kind), f(4, 5, 3), call=lambda m, x: m(x)[0][-1])
    TABLE.layer(f"{kind}-wide", layer(kind, size=192), f(2, 5, 3), initial=False)  # three panels
TABLE.layer("LSTM-cell-state", layer("LSTM"), f(4, 5, 3), call=lambda m, x: m(x)[1][1])

# ---- cells ---------------------------------------------------------------------------------------

for kind, options in (
    ("RNNCell", {}),
    ("RNNCell", {"nonlinearity": "relu"}),
    ("RNNCell", {"bias": False}),
    ("LSTMCell", {}),
    ("LSTMCell", {"bias": False}),
    ("GRUCell", {}),
    ("GRUCell", {"bias": False}),
):
    name = "-".join([kind, *map(str, options.values())])
    family = kind.removesuffix("Cell")
    build = layer(kind, **options)
    TABLE.layer(name, build, f(4, 3))
    TABLE.layer(f"{name}-state", build, f(4, 3), *states(family, 4, 5), call=from_states)
    TABLE.layer(f"{name}-single", build, f(3))
    TABLE.layer(f"{name}-single-state", build, f(3), *states(family, 5), call=from_states)


def unrolled(cell, x):
    state = None
    for one in x:
        state = cell(one, state)
    return state


for kind in ("RNNCell", "LSTMCell", "GRUCell"):
    TABLE.layer(f"{kind}-unrolled", layer(kind), f(3, 4, 3), call=unrolled)

# ---- refusals ------------------------------------------------------------------------------------


def refused(kind, name, x=(2, 5, 3), state=None, double=(), **options):
    """A row that calls a module of sizes 3 and 4 on zeros.

    Args:
        x: shape of the input.
        state: shapes of the states.
        double: which of input and states are float64.
    """

    def program(lib):
        made = [lib.zeros(*shape) for shape in (x, *(state or ()))]
        made = [t.double() if place in double else t for place, t in enumerate(made)]
        return from_states(getattr(lib.nn, kind)(3, 4, **options), *made)

    TABLE.fails(f"{kind}-{name}", program)


OPTIONS_THAT_MAKE_NO_NETWORK = {
    "dropout": {"dropout": 2},
    "dropout-bool": {"dropout": True},
    "bias": {"bias": 1},
    "batch-first": {"batch_first": 1},
    "num-layers": {"num_layers": 0},
}
SIZES_THAT_MAKE_NO_NETWORK = {
    "no-input": (0, 1),
    "no-hidden": (1, 0),
    "float-input": (1.5, 2),
    "float-hidden": (2, 1.5),
}
for kind, count in (("RNN", 1), ("LSTM", 2), ("GRU", 1)):
    refused(kind, "vector", (3,))
    refused(kind, "four", (1, 2, 3, 4))
    refused(kind, "size", (2, 5, 2))
    refused(kind, "no-steps", (0, 5, 3))
    refused(kind, "dtype", double=[0])
    refused(kind, "state-dims", state=[(1, 4)] * count)
    refused(kind, "state-dims-unbatched", (2, 3), state=[(1, 1, 4)] * count)
    refused(kind, "state-batch", state=[(1, 2, 4)] * count)
    refused(kind, "state-size", state=[(1, 5, 3)] * count)
    refused(kind, "state-layers", state=[(2, 5, 4)] * count)
    for name, options in OPTIONS_THAT_MAKE_NO_NETWORK.items():
        refused(kind, name, **options)
    for name, sizes in SIZES_THAT_MAKE_NO_NETWORK.items():
        TABLE.fails(f"{kind}-{name}", lambda lib, k=kind, s=sizes: getattr(lib.nn, k)(*s))
refused("RNN", "state-dtype", state=[(1, 5, 4)], double=[1])
refused("GRU", "state-dtype", state=[(1, 5, 4)], double=[1])
refused("LSTM", "cell-size", state=[(1, 5, 4), (1, 5, 3)])
refused("LSTM", "cell-dims", state=[(1, 5, 4), (5, 4)])
refused("LSTM", "proj-size", proj_size=4)
refused("LSTM", "proj-negative", proj_size=-1)
refused("RNN", "nonlinearity", nonlinearity="x")
TABLE.fails("RNNBase-mode", lambda lib: lib.nn.RNNBase("X", 3, 4))
TABLE.fails("RNNBase-forward", lambda lib: lib.nn.RNNBase("LSTM", 3, 4)(lib.zeros(2, 5, 3)))
TABLE.fails("RNNCellBase-forward", lambda lib: lib.nn.RNNCellBase(3, 4, True, 1)(lib.zeros(2, 3)))

for kind, count in (("RNNCell", 1), ("LSTMCell", 2), ("GRUCell", 1)):
    refused(kind, "dims", (2, 3, 3))
    refused(kind, "size", (2, 2))
    refused(kind, "dtype", (2, 3), double=[0])
    refused(kind, "batch", (2, 3), state=[(3, 4)] * count)
    refused(kind, "state-size", (2, 3), state=[(2, 5)] * count)
    refused(kind, "state-dims", (2, 3), state=[(2, 4, 1)] * count)
    refused(kind, "state-dtype", (2, 3), state=[(2, 4)] * count, double=[1])
refused("RNNCell", "state-single", (2, 3), state=[(4,)])
refused("GRUCell", "state-single", (2, 3), state=[(4,)])
refused("LSTMCell", "cell-size", (2, 3), state=[(2, 4), (2, 5)])
refused("RNNCell", "nonlinearity", (2, 3), nonlinearity="x")
