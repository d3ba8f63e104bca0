"""Layers of no features, losses of no classes, names that programs read from layers and modules."""

from __future__ import annotations

import numpy as np

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


@program
def cells_of_no_hidden_features(T):
    x, h = T.randn(3, 10), T.randn(3, 0)
    cells = T.nn.RNNCell(10, 0), T.nn.GRUCell(10, 0)
    return {"states": [cell(x, h) for cell in cells], "lstm": T.nn.LSTMCell(10, 0)(x, (h, h))}


@program
def probabilities_of_no_classes(T):
    x = T.rand(5, 0)
    return {
        "mean": T.nn.functional.cross_entropy(x, x),
        "sum": T.nn.functional.cross_entropy(x, x, reduction="sum"),
    }


@program
def sizes_past_integers(T):
    x = T.ones(1, 1, 4, 4)
    how = {"mode": "bilinear", "align_corners": False}
    return {
        f"{factor}": attempt(lambda f=factor: T.nn.functional.interpolate(x, scale_factor=f, **how))
        for factor in (1e20, -1e20, float("nan"), float("inf"))
    }


@program
def numbers_written_to_a_part_of_a_tensor(T):
    """``out=`` keeps its memory: what it is a part of holds the numbers, too."""
    makers = {
        "arange": lambda out: T.arange(4, out=out),
        "linspace": lambda out: T.linspace(0, 3, 4, out=out),
        "logspace": lambda out: T.logspace(0, 3, 4, 2, out=out),
        "linspace of three": lambda out: T.linspace(0, 3, 3, out=out),
        "full": lambda out: T.full((3,), 3.0, out=out),
        "ones": lambda out: T.ones(4, out=out),
        "eye": lambda out: T.eye(1, 3, out=out),
    }
    found = {}
    for name, make in makers.items():
        whole = T.zeros(2, 3)
        part = whole.narrow(1, 1, 2)
        make(part)
        found[name] = [whole, list(part.shape)]
    whole = T.zeros(2, 3)
    T.cat([T.ones(2), T.ones(1)], out=whole[:0])
    return found | {"cat": whole}


@program
def integers_that_are_far_apart(T):
    large, small = T.iinfo(T.int32), T.iinfo(T.int8)
    return {
        "int32": T.linspace(large.min, large.max, 5, dtype=T.int32),
        "int8": T.linspace(small.min, small.max, 4, dtype=T.int8),
        "int64": T.linspace(-(2**62), 2**62, 5, dtype=T.int64),
        "few": [T.linspace(1, 200, n, dtype=T.int16) for n in range(4)],
    }


@program
def the_flat_weights_of_a_recurrent_layer(T):
    net = T.nn.LSTM(3, 4, 2)
    return {
        "names": net._flat_weights_names,
        "layers": net._all_weights,
        "shapes": [tuple(p.shape) for p in net._flat_weights],
    }


@program
def what_subclasses_of_recurrent_layers_replace(T):
    """``forward`` calls what a subclass replaces; so do programs with their own loops."""
    called = []

    class Watched(T.nn.LSTM):
        def check_forward_args(self, input, hidden, batch_sizes):
            called.append([list(input.shape), [list(h.shape) for h in hidden], batch_sizes])
            super().check_forward_args(input, hidden, batch_sizes)

        def check_input(self, input, batch_sizes):
            called.append("check_input")
            super().check_input(input, batch_sizes)

        def permute_hidden(self, hx, permutation):
            return hx if permutation is None else super().permute_hidden(hx, permutation)

    x, x64 = T.zeros(4, 5, 3, dtype=T.float32), T.zeros(4, 5, 3, dtype=T.float64)
    net, gru = Watched(3, 6, proj_size=2, batch_first=True).float(), T.nn.GRU(3, 6).float()
    net(x)
    sizes, states = T.tensor([2, 1]), T.arange(12.0).reshape(1, 2, 6)
    return {
        "called": called,
        "input": attempt(lambda: gru.check_input(x[0], None)),
        "packed": attempt(lambda: gru.check_input(x, sizes)),
        "size": attempt(lambda: gru.check_input(x[..., :2], None)),
        "dtype": attempt(lambda: gru.check_input(x64, None)),
        "hidden size": [net.get_expected_hidden_size(x, s) for s in (None, sizes)],
        "cell size": [net.get_expected_cell_size(x, s) for s in (None, sizes)],
        "hidden": attempt(lambda: gru.check_hidden_size(states, (1, 5, 6))),
        "own words": attempt(lambda: gru.check_hidden_size(states, (1, 5, 6), "{} is not {}")),
        "args": attempt(lambda: gru.check_forward_args(x, states, None)),
        "cell args": attempt(lambda: net.check_forward_args(x, (states, states), None)),
        "permuted": gru.permute_hidden(states, T.tensor([1, 0])),
        "both permuted": T.nn.LSTM(3, 6).permute_hidden((states, states), T.tensor([1, 0])),
        "constants": [
            getattr(T.nn, name).__constants__
            for name in ("RNNBase", "RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")
        ],
    }


@program
def recurrent_layers_refuse_options_of_others(T):
    errors = [
        attempt(lambda: T.nn.RNN(3, 4, proj_size=2)),
        attempt(lambda: T.nn.GRU(3, 4, proj_size=0)),
        attempt(lambda: T.nn.GRU(3, 4, peephole=True)),
    ]
    return {"errors": errors}


@program
def recurrent_layers_under_autocast_take_its_dtype(T):
    x, found = T.zeros(4, 5, 3, dtype=T.bfloat16), {}
    with T.autocast("cpu", dtype=T.bfloat16):
        for name, options in {"RNN": {}, "GRU": {}, "LSTM": {"proj_size": 2}}.items():
            output, states = getattr(T.nn, name)(3, 4, dtype=T.float32, **options)(x)
            found[name] = [output.dtype, *(s.dtype for s in states)]
    return found


@program
def what_programs_import_beside_module(T):
    module = T.nn.modules.module
    return {
        "text": module._addindent("a\nb", 2),
        "keys": repr(module._IncompatibleKeys(["a"], [])),
    }


@program
def an_array_is_no_tensor(T):
    return {"error": attempt(lambda: T.nn.Linear(2, 2)(np.ones(2)))}


@program
def a_module_is_not_copied_by_to(T):
    return {"error": attempt(lambda: T.nn.Linear(2, 2).to(copy=True))}


@program
def what_layers_refuse(T):
    ones, nn = T.ones, T.nn

    def attend(key=None, value=None, static_key=None, static_value=None):
        x = ones(2, 1, 4)
        weights = ones(12, 4), ones(12), key, value, False, 0.0, ones(4, 4), ones(4)
        T.nn.functional.multi_head_attention_forward(
            *(x, x, x, 4, 2, *weights), static_k=static_key, static_v=static_value
        )

    learned, static = ones(1, 1, 4), ones(2, 2, 2)
    errors = [
        attempt(lambda: attend(learned)),
        attempt(lambda: attend(None, learned)),
        attempt(lambda: attend(learned, learned, static)),
        attempt(lambda: attend(learned, learned, None, static)),
        attempt(lambda: nn.Fold((4, 5), (2, 2), dilation=(8, 8))(ones(1, 12, 12))),
        attempt(lambda: nn.LazyLinear(1).share_memory()),
    ]
    return {"errors": errors}


@program
def prefixes_of_a_state_dict(T):
    strip = T.nn.modules.utils.consume_prefix_in_state_dict_if_present
    inner = T.nn.Sequential(T.nn.Linear(1, 1))
    state = T.nn.ModuleDict({"module": inner, "other": T.nn.Linear(1, 1)}).state_dict()
    strip(state, "module.")
    keys, modules = [*state], [*state._metadata]
    plain = {"a.b": 1, "c": 2, "a.d": 3}
    strip(plain, "a.")
    return {"keys": keys, "modules": modules, "plain": [*plain.items()]}


@program
def storages_know_whether_they_are_shared(T):
    def shared(t):
        return [t.untyped_storage().is_shared(), t.is_shared()]

    x = T.ones(4)
    return {"before": shared(x), "view": shared(x.share_memory_()[1:])}
