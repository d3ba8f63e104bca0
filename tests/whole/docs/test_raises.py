"""The errors that the reference tells for a parameter are raised: tried in each name's example."""

import builtins
import doctest
import inspect

import numpy as np
import pytest

import tinynet as tn
from docs.site import gaps, raises
from docs.site.api import identity
from docs.site.inventory import OPERATIONS, TITLES, module_of, operation_of
from tinynet import nn, optim

WRONG = {
    "dim": [99, (99, 98)],
    "axis0": [99],
    "axis1": [99],
    "dim0": [99],
    "dim1": [99],
    "reduction": ["other"],
    "cache_size": [2],
    "dtype": ["other", 3],
    "requires_grad": [True],
    "inplace": [True],
}
TOGETHER = {"requires_grad": {"dtype": tn.int16}, "inplace": {"training": True, "p": 0.5}}
"""What the other arguments must be, where a name has them."""

NAMES = [n for page in TITLES for n in gaps.to_check(page)]
CLAIMS = [
    pytest.param(name, parameter, id=f"{name.path}-{parameter}")
    for name in NAMES
    if name.module or getattr(nn.functional, name.name, None) is not name.value  # shown there
    for parameter in [p.name for p in raises.parameters_of(name.value)]
    if parameter in raises.OF_PARAMETERS
    if raises.OF_PARAMETERS[parameter] in raises.of(name.value)
]


class Spy:
    """Stands for a function or class while its example runs, and tries the wrong argument."""

    def __init__(self, name, parameter):
        self.real, self.parameter = name.value, parameter
        self.signature = inspect.signature(name.value)
        self.expected = getattr(builtins, raises.OF_PARAMETERS[parameter].partition(":")[0])
        self.raised = []

    def __call__(self, *args, **kwargs):
        calls = [self.wrong(args, kwargs, value) for value in WRONG[self.parameter]]
        if inspect.isclass(self.real):
            return Made(self, calls, self.real(*args, **kwargs))
        for call in calls:
            self.attempt(call)
        return self.real(*args, **kwargs)

    def wrong(self, args, kwargs, value):
        """The call with the wrong value of the parameter."""
        bound = self.signature.bind(*args, **kwargs)
        known = self.signature.parameters
        more = {k: v for k, v in TOGETHER.get(self.parameter, {}).items() if k in known}
        bound.arguments.update({self.parameter: value, **more})
        return lambda: self.real(*self.leaves(bound.args), **bound.kwargs)

    def leaves(self, args):
        if self.parameter != "inplace":
            return args
        return [a.clone().requires_grad_() if isinstance(a, tn.Tensor) else a for a in args]

    def attempt(self, call):
        try:
            return call()
        except self.expected as error:
            self.raised.append(error)
        except Exception as error:  # another wrong value may be what it takes
            self.other = error


class Made:
    """What a class makes in an example: its calls are tried with the wrong one, too."""

    def __init__(self, spy, calls, right):
        vars(self).update(spy=spy, wrong=[spy.attempt(call) for call in calls], right=right)

    def __call__(self, *args, **kwargs):
        for made in self.wrong:
            self.spy.attempt(lambda made=made: made(*self.spy.leaves(args), **kwargs))
        return self.right(*args, **kwargs)

    def eval(self):
        self.right.eval()
        return self

    def __getattr__(self, name):
        return getattr(self.right, name)


@pytest.mark.parametrize(("name", "parameter"), CLAIMS)
def test_a_wrong_argument_raises_what_the_reference_says(name, parameter, monkeypatch):
    spy = Spy(name, parameter)
    stand_in = spy if inspect.isclass(name.value) else lambda *args, **kwargs: spy(*args, **kwargs)
    owner = tn if name.module in ("", "Tensor") else module_of(name.module)
    for place in (owner, tn, tn.Tensor):  # an example may call the method, or another name of it
        for other, value in [*vars(place).items()]:
            if identity(value) == identity(name.value):
                monkeypatch.setattr(place, other, stand_in)
    known = {"tn": tn, "nn": nn, "F": nn.functional, "optim": optim, "np": np}
    tn.manual_seed(0)
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(name.value)):
        exec(compile(example.source, name.path, "single"), known)
    assert spy.raised, getattr(spy, "other", "nothing was raised")


@pytest.mark.parametrize("call", ["tn.full((2,), 'a')", "tn.full_like(tn.ones(2), None)"])
def test_what_is_no_number_fills_nothing(call):
    with pytest.raises(TypeError, match="argument 'fill_value' .* must be Number, not"):
        eval(call)


MAKERS = [
    *[f"tn.{name}(-1)" for name in "empty ones zeros rand randn randperm eye FloatTensor".split()],
    *[f"tn.ones(1).{name}(-1)" for name in "new new_empty new_ones new_zeros".split()],
    *("tn.full((-1,), 0.0)", "tn.randint(3, (-1,))", "tn.normal(0.0, 1.0, (-1,))"),
    *("tn.empty_strided((-1,), (1,))", "tn.ones(1).new_empty_strided((-1,), (1,))"),
    *("tn.ones(1).new_full((-1,), 0.0)", "tn.linspace(0, 1, -1)", "tn.tril_indices(-1, 1)"),
]


@pytest.mark.parametrize("call", MAKERS)
def test_negative_lengths_are_refused(call):
    with pytest.raises(RuntimeError):
        eval(call)


POINTWISE = [
    (name, op)
    for name in NAMES
    for op in [operation_of(name.value)]
    if op is not None and op.kind == "pointwise"
]


@pytest.mark.parametrize(
    "name", [pytest.param(n, id=n.path) for n, op in POINTWISE if len(op.tensors) > 1]
)
def test_shapes_that_do_not_broadcast_are_refused(name):
    assert raises.BROADCAST in [*raises.of(name.value)]
    kind = tn.bool if name.name.startswith("logical") else tn.int64
    kind = kind if "bitwise" in name.name or name.name in ("gcd", "lcm") else tn.float64
    tensors = [tn.ones(n, dtype=kind) for n in (2, 3, 3)][: required(name.value)]
    with pytest.raises(RuntimeError, match="must match the size"):
        name.value(*tensors)


@pytest.mark.parametrize("page", [*OPERATIONS, "tensor"])
def test_what_has_no_such_argument_raises_type_error(page):
    """What the pages of functions of tensors begin with; ``to`` takes what scripts pass it."""
    for name in gaps.to_check(page):
        if inspect.isroutine(name.value) and name.path != "Tensor.to":
            with pytest.raises(TypeError):
                name.value(tn.ones(2), nonsense=3)


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("page", OPERATIONS)
def test_what_is_no_tensor_is_refused(page):
    for name in gaps.to_check(page):
        first = [*inspect.signature(name.value).parameters][0]
        if first in ("self", "input") and name.path != "tn.clamp":  # it looks at bounds first
            with pytest.raises(TypeError):
                name.value(*[object()] * required(name.value))


def required(function):
    """How many arguments it needs."""
    parameters = inspect.signature(function).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in positional for p in parameters)
