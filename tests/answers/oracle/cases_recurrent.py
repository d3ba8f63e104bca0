"""Recurrent networks as functions: ``torch.lstm`` and its like, whole and packed, and the cells."""

from tests.tools.recorded.rows import Table, f64

TABLE = Table("recurrent", composition=False)
case, fails = TABLE.case, TABLE.fails

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
SIZE, INPUTS = 3, 2


def weights(gates, biases=True, layers=1, directions=1):
    """The parameters of all layers and directions."""
    made = []
    for layer in range(layers):
        inputs = directions * SIZE if layer else INPUTS
        for _ in range(directions):
            made += [f64(gates * SIZE, inputs).unit, f64(gates * SIZE, SIZE).unit]
            made += [f64(gates * SIZE).unit] * 2 if biases else []
    return made


def call(name, states, params, sizes=None):
    """Call a network with its states one by one before its parameters."""

    def run(tn, x, *rest):
        hx = rest[:states] if name == "lstm" else rest[0]
        lengths = () if sizes is None else (tn.tensor(sizes),)
        return getattr(tn, name)(x, *lengths, hx, [*rest[states:]], *params)

    return run


for _name, _gates in GATES.items():
    _count = 2 if _name == "lstm" else 1
    _x = f64(4, 2, INPUTS)
    for _title, _biases, _layers, _both, _first in (
        ("plain", True, 1, False, False),
        ("no-bias", False, 1, False, False),
        ("stacked", True, 2, False, True),
        ("both-directions", True, 2, True, False),
    ):
        _directions = 1 + _both
        _states = [f64(_layers * _directions, 4 if _first else 2, SIZE)] * _count
        _params = weights(_gates, _biases, _layers, _directions)
        _options = (_biases, _layers, 0.0, True, _both, _first)
        case(f"{_name}-{_title}", call(_name, _count, _options), _x, *_states, *_params)
    _states, _params = [f64(1, 3, SIZE)] * _count, weights(_gates)
    _options = (True, 1, 0.0, False, False)
    case(
        f"{_name}-packed",
        call(_name, _count, _options, [3, 2, 1]),
        *(f64(6, INPUTS), *_states, *_params),
    )
    _one = [f64(1, 2, SIZE).const] * _count
    _params = [p.const for p in _params]
    _x, _options = _x.const, (True, 1, 0.0, False, False, False)
    fails(f"{_name}-parameters", call(_name, _count, _options), _x, *_one, *_params[:-1])
    fails(f"{_name}-inputs", call(_name, _count, _options), f64(4, 2, 3).const, *_one, *_params)
    fails(f"{_name}-steps", call(_name, _count, _options), f64(0, 2, 2).const, *_one, *_params)
    _options = (True, 2, 0.0, False, False, False)
    fails(f"{_name}-layers", call(_name, _count, _options), _x, *_one, *_params)
    _options = (True, 1, 0.0, False, True, False)
    fails(f"{_name}-odd", call(_name, _count, _options), _x, *_one, *_params)

case(
    "lstm-projected",
    call("lstm", 2, (False, 1, 0.0, False, False, False)),
    *(f64(4, 2, INPUTS), f64(1, 2, 2), f64(1, 2, SIZE)),
    *(f64(4 * SIZE, INPUTS), f64(4 * SIZE, 2), f64(2, SIZE)),
)
fails(
    "lstm-one-state",
    lambda tn, x, h, *w: tn.lstm(x, (h,), w, True, 1, 0.0, False, False, False),
    *(f64(4, 2, INPUTS).const, f64(1, 2, SIZE).const),
    *(w.const for w in weights(4)),
)


def cell(name, count):
    """Call a cell with its states one by one before its parameters."""

    def run(tn, x, *rest):
        return getattr(tn, name)(x, rest[:count] if count > 1 else rest[0], *rest[count:])

    return run


for _name, _gates in GATES.items():
    _count = 2 if _name == "lstm" else 1
    _states = [f64(2, SIZE)] * _count
    _run = cell(f"{_name}_cell", _count)
    case(f"{_name}_cell", _run, f64(2, INPUTS), *_states, *weights(_gates))
    case(f"{_name}_cell-no-bias", _run, f64(2, INPUTS), *_states, *weights(_gates, False))
    _params = [w.const for w in weights(_gates)]
    _states = [s.const for s in _states]
    fails(f"{_name}_cell-inputs", _run, f64(2, 3).const, *_states, *_params)
    fails(f"{_name}_cell-batch", _run, f64(1, INPUTS).const, *_states, *_params)
    fails(
        f"{_name}_cell-size",
        _run,
        *(f64(2, INPUTS).const, *[f64(2, 4).const] * _count, *_params),
    )
