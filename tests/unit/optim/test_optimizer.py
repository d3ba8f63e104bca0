"""The behaviour of all optimizers: groups, state, saving, warnings and errors."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn, optim
from tinynet.core.trace import observing
from tinynet.optim import lbfgs

from .algorithms import ELEMENTWISE, RUN


def parameter(*values):
    return tn.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def descend(optimizer, params, steps=1):
    for _ in range(steps):
        optimizer.zero_grad()
        sum((p * p).sum() for p in params).backward()
        optimizer.step()


# ---- making one ---------------------------------------------------------------------------------

P = parameter()
REFUSED = {
    "no parameters": (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
    "a tensor": (
        lambda: optim.SGD(P),
        TypeError,
        "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
        "tinynet.FloatTensor",
    ),
    "a module": (
        lambda: optim.SGD(nn.Linear(1, 1)),
        TypeError,
        "'Linear' object is not iterable",
    ),
    "layers": (
        lambda: optim.SGD(nn.Sequential(nn.Linear(1, 1))),
        TypeError,
        "optimizer can only optimize Tensors, but one of the params is "
        "tinynet.nn.layers.linear.Linear",
    ),
    "no tensor": (
        lambda: optim.SGD([1]),
        TypeError,
        "optimizer can only optimize Tensors, but one of the params is int",
    ),
    "a list in the list": (
        lambda: optim.SGD([[P]]),
        TypeError,
        "optimizer can only optimize Tensors, but one of the params is list",
    ),
    "a non-leaf": (lambda: optim.SGD([P * 2]), ValueError, "can't optimize a non-leaf Tensor"),
    "in two groups": (
        lambda: optim.SGD([{"params": [P]}, {"params": P}]),
        ValueError,
        "some parameters appear in more than one parameter group",
    ),
    "a set": (
        lambda: optim.SGD([{"params": {P}}]),
        TypeError,
        "optimizer parameters need to be organized in ordered collections, but the ordering of "
        "tensors in sets will change between runs. Please use a list instead.",
    ),
    "a group that is a list": (
        lambda: optim.SGD([P]).add_param_group([P]),
        TypeError,
        "param_group must be a dict, but got <class 'list'>",
    ),
    "some names missing": (
        lambda: optim.SGD([("a", P), parameter()]),
        ValueError,
        "all optimizer params should be with/without names. Some param names are missing",
    ),
    "names in one group only": (
        lambda: optim.SGD([{"params": [("a", P)]}, {"params": [parameter()]}]),
        ValueError,
        "all optimizer param groups should be with/without names. cannot add param group without "
        "names to the optimizer",
    ),
    "lr": (lambda: optim.SGD([P], lr=-1), ValueError, "Invalid learning rate: -1"),
    "lr nan": (lambda: optim.SGD([P], lr=float("nan")), ValueError, "Invalid learning rate: nan"),
    "lr of a group": (
        lambda: optim.SGD([{"params": [P], "lr": -2}], lr=1),
        ValueError,
        "Invalid learning rate: -2",
    ),
    "momentum": (
        lambda: optim.SGD([P], momentum=-0.1),
        ValueError,
        "Invalid momentum value: -0.1",
    ),
    "weight_decay": (
        lambda: optim.SGD([P], weight_decay=-1),
        ValueError,
        "Invalid weight_decay value: -1",
    ),
    "nesterov": (
        lambda: optim.SGD([P], nesterov=True),
        ValueError,
        "Nesterov momentum requires a momentum and zero dampening",
    ),
    "differentiable": (
        lambda: optim.SGD([P], differentiable=True),
        ValueError,
        "The 'differentiable' parameter of an optimizer must be False. Got True instead. "
        "Steps are not recorded; to differentiate through one, write it with operations.",
    ),
    "Adam's lr": (lambda: optim.Adam([P], lr=-1), ValueError, "Invalid learning rate: -1"),
    "eps": (lambda: optim.AdamW([P], eps=-1), ValueError, "Invalid epsilon value: -1"),
    "beta 0": (
        lambda: optim.Adam([P], betas=(1.0, 0.9)),
        ValueError,
        "Invalid beta parameter at index 0: 1.0",
    ),
    "beta 1": (
        lambda: optim.AdamW([P], betas=(0.9, -0.1)),
        ValueError,
        "Invalid beta parameter at index 1: -0.1",
    ),
    "Adam's weight_decay": (
        lambda: optim.AdamW([P], weight_decay=-1),
        ValueError,
        "Invalid weight_decay value: -1",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_refused(mistake):
    make, error, text = REFUSED[mistake]
    with pytest.raises(error, match=rf"^{re.escape(text)}(\n  fix |$)"):
        make()


def test_a_group_takes_the_defaults_that_it_does_not_set():
    a, b = parameter(), parameter()
    optimizer = optim.SGD([{"params": a, "lr": 1.0}, {"params": [b]}], lr=0.1, momentum=0.5)
    assert [g["lr"] for g in optimizer.param_groups] == [1.0, 0.1]
    assert [g["momentum"] for g in optimizer.param_groups] == [0.5, 0.5]
    assert optimizer.param_groups[0]["params"][0] is a
    optimizer.add_param_group({"params": parameter(), "momentum": 0})
    assert optimizer.param_groups[2]["lr"] == 0.1


def test_a_parameter_twice_in_a_group_warns():
    with pytest.warns(UserWarning, match="^optimizer contains a parameter group with duplicate"):
        optimizer = optim.SGD([P, P], lr=0.1)
    assert list(optimizer.state_dict()["param_groups"][0]["params"]) == [0, 0]


def test_named_parameters_keep_their_names():
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_a_non_leaf_that_retains_its_gradient_may_be_moved():
    leaf = parameter(1.0)
    result = leaf * 2
    result.retain_grad()
    optimizer = optim.SGD([result], lr=0.5)
    result.sum().backward()
    optimizer.step()
    assert result.tolist() == [1.5]


# ---- steps --------------------------------------------------------------------------------------


def test_a_step_writes_in_place_and_counts_as_a_write():
    p, q = parameter(1.0), parameter(2.0)
    optimizer = optim.SGD([p, q], lr=0.5)
    memory = p.data_ptr()
    (p * p).sum().backward()
    optimizer.step()
    assert p.tolist() == [0.0] and p.data_ptr() == memory and p.is_leaf and p.requires_grad
    assert p._version == 1 and q._version == 0 and q.tolist() == [2.0]


def test_a_backward_through_values_from_before_the_step_names_its_line():
    p = parameter(1.0, 2.0)
    optimizer = optim.SGD([p], lr=0.5)
    loss = (p * p).sum()
    loss.backward(retain_graph=True)
    optimizer.step()  # this line
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        loss.backward()
    assert "by SGD.step, version 0 -> 1" in str(caught.value)
    assert "optimizer.step()  # this line" in str(caught.value)
    assert caught.value.changed_by[0].function == (
        "test_a_backward_through_values_from_before_the_step_names_its_line"
    )


def test_the_closure_runs_with_grad_mode_on_and_its_result_is_returned():
    p = parameter(3.0)
    optimizer = optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with tn.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert p.tolist() == [0.0]


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.AdamW])
def test_a_step_that_raises_in_its_closure_moves_nothing(make):
    p = parameter(3.0)
    p.grad = tn.ones(1)
    optimizer = make([p], lr=0.5)
    with pytest.raises(ZeroDivisionError):
        optimizer.step(lambda: 1 / 0)
    assert p.tolist() == [3.0] and p._version == 0 and not optimizer.state


@pytest.mark.parametrize("momentum", [0, 0.9])
def test_momentum_is_kept_only_where_there_is_some(momentum):
    p = parameter()
    optimizer = optim.SGD([p], lr=0.1, momentum=momentum)
    descend(optimizer, [p])
    assert [list(s) for s in optimizer.state.values()] == ([["momentum_buffer"]] * (momentum > 0))


def test_state_is_made_of_tensors_that_keep_their_memory():
    p = parameter()
    optimizer = optim.Adam([p], lr=0.1, amsgrad=True)
    descend(optimizer, [p])
    state = optimizer.state[p]
    assert list(state) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    before = {k: (v, v.data_ptr()) for k, v in state.items()}
    assert all(isinstance(v, tn.Tensor) and not v.requires_grad for v in state.values())
    descend(optimizer, [p], 2)
    assert {k: (v, v.data_ptr()) for k, v in optimizer.state[p].items()} == before
    assert state["step"].item() == 3.0 and state["step"].dtype == tn.float32


def test_the_gradient_is_left_as_it_is():
    for make in (optim.SGD, optim.Adam):
        p = parameter(1.0, -2.0)
        p.grad = tn.tensor([3.0, 4.0])
        make([p], lr=0.1, weight_decay=0.5, maximize=True).step()
        assert p.grad.tolist() == [3.0, 4.0] and p.grad._version == 0


def test_the_buffer_of_momentum_is_not_the_gradient():
    p = parameter()
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    descend(optimizer, [p])
    assert not np.shares_memory(optimizer.state[p]["momentum_buffer"].numpy(), p.grad.numpy())


def test_an_expanded_parameter_is_refused():
    p = tn.ones(1).expand(3).detach().requires_grad_()
    p.sum().backward()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        optim.SGD([p], lr=0.1).step()


def test_a_transposed_parameter_is_moved_in_its_memory():
    base = tn.zeros(2, 3)
    p = base.t().detach().requires_grad_()
    (p * tn.arange(6.0).view(3, 2)).sum().backward()
    for make in (optim.SGD, optim.Adam):
        make([p], lr=1.0, weight_decay=0.1).step()
    assert base.t().tolist() == p.tolist() and p.tolist()[2][1] != 0


def test_a_parameter_whose_data_has_another_shape_is_refused():
    p = parameter()
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    descend(optimizer, [p])
    p.data = tn.ones(3)
    p.grad = tn.ones(3)
    with pytest.raises(RuntimeError, match=r"shape of a parameter changed from \[2\] to \[3\]"):
        optimizer.step()


def test_a_learning_rate_may_be_a_tensor():
    p, q = parameter(), parameter()
    descend(optim.SGD([p], lr=tn.tensor(0.1)), [p])
    descend(optim.SGD([q], lr=0.1), [q])
    assert p.tolist() == q.tolist()


def test_hooks_of_steps():
    p, heard = parameter(), []
    optimizer = optim.SGD([p], lr=0.1)
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: heard.append(p.tolist()))
    optimizer.register_step_post_hook(lambda o, args, kwargs: heard.append("after"))
    descend(optimizer, [p])
    before.remove()
    descend(optimizer, [p])
    assert heard == [[1.0, 2.0], "after", "after"]


# ---- gradients ----------------------------------------------------------------------------------


def test_zero_grad():
    p, q = parameter(), parameter()
    optimizer = optim.SGD([p, q], lr=0.1)
    p.grad = tn.ones(2)
    kept = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept and kept.tolist() == [0, 0] and kept._version == 1 and q.grad is None
    optimizer.zero_grad()
    assert p.grad is None


def test_zero_grad_cuts_gradients_from_their_graph():
    p = parameter(3.0)
    with pytest.warns(UserWarning, match="create_graph=True"):
        (p * p * p).sum().backward(create_graph=True)
    assert p.grad.requires_grad
    optim.SGD([p], lr=0.1).zero_grad(set_to_none=False)
    assert not p.grad.requires_grad and p.grad.is_leaf and p.grad.tolist() == [0.0]


# ---- saving -------------------------------------------------------------------------------------

MAKERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_resumed_run_is_the_uninterrupted_one(name):
    a, b = [parameter(1.0, -3.0), parameter(2.0)], [parameter(1.0, -3.0), parameter(2.0)]
    straight = MAKERS[name](a)
    descend(straight, a, 6)
    first = MAKERS[name](b)
    descend(first, b, 3)
    saved = copy.deepcopy(first.state_dict())
    again = MAKERS[name](b)
    again.param_groups[0]["lr"] = 5.0  # the saved one counts
    again.load_state_dict(saved)
    descend(again, b, 3)
    assert [p.tolist() for p in a] == [p.tolist() for p in b]


def test_loading_copies():
    p = parameter()
    one = optim.SGD([p], lr=0.1, momentum=0.9)
    descend(one, [p])
    two = optim.SGD([p], lr=0.5)
    two.load_state_dict(one.state_dict())
    assert two.param_groups[0]["lr"] == 0.1 and two.param_groups[0]["params"][0] is p
    mine, theirs = (o.state[p]["momentum_buffer"] for o in (one, two))
    assert mine.tolist() == theirs.tolist() and mine.data_ptr() != theirs.data_ptr()
    two.param_groups[0]["lr"] = 7
    assert one.param_groups[0]["lr"] == 0.1


def test_loaded_state_takes_the_dtype_of_the_parameter_but_the_step_count_keeps_its_own():
    p, q = parameter(), tn.tensor([1.0, 2.0], dtype=tn.float64, requires_grad=True)
    one = optim.Adam([p], lr=0.1)
    descend(one, [p])
    two = optim.Adam([q])
    two.load_state_dict(one.state_dict())
    kinds = {k: v.dtype for k, v in two.state[q].items()}
    assert kinds == {"step": tn.float32, "exp_avg": tn.float64, "exp_avg_sq": tn.float64}


def test_options_that_a_saved_group_lacks_are_the_defaults():
    optimizer = optim.Adam([parameter()], amsgrad=True)
    optimizer.load_state_dict({"state": {}, "param_groups": [{"lr": 0.5, "params": [0]}]})
    assert optimizer.param_groups[0]["lr"] == 0.5 and optimizer.param_groups[0]["amsgrad"] is True


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        (
            {"state": {}, "param_groups": []},
            "loaded state dict has a different number of parameter groups",
        ),
        (
            {"state": {}, "param_groups": [{"params": [0, 1]}]},
            "loaded state dict contains a parameter group that doesn't match the size of "
            "optimizer's group",
        ),
        (
            {
                "state": {0: {"momentum_buffer": tn.ones(3)}},
                "param_groups": [{"params": [0]}],
            },
            "The state 'momentum_buffer' of parameter 0 must have the parameter's shape [2]. "
            "Got [3] instead.",
        ),
    ],
)
def test_state_that_does_not_fit_is_refused_and_changes_nothing(saved, text):
    optimizer = optim.SGD([parameter()], lr=0.1)
    before = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        optimizer.load_state_dict(saved)
    assert optimizer.state_dict() == before


# ---- one's own ----------------------------------------------------------------------------------


def test_an_algorithm_is_an_update_of_arrays():
    class Lion(optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        def update(self, param, grad, state, group):
            assert all(type(x) is np.ndarray for x in (param, grad))
            mean = state.setdefault("mean", np.zeros_like(param))
            param -= group["lr"] * np.sign(0.9 * mean + 0.1 * grad)
            mean += 0.01 * (grad - mean)

    p, q = parameter(1.0, -2.0), parameter()
    optimizer = Lion([p, q])
    descend(optimizer, [p], 2)
    assert p.tolist() == near([0.8, -1.8])
    assert list(optimizer.state) == [p] and optimizer.state[p]["mean"].shape == (2,)


def test_a_step_written_by_hand_as_in_pytorch():
    class Plain(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @tn.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.add_(p.grad, alpha=-group["lr"])

    p = parameter(4.0)
    descend(Plain([p], lr=0.25), [p])
    assert p.tolist() == [2.0]


def test_neither_update_nor_step():
    p = parameter()
    p.grad = tn.ones(2)
    with pytest.raises(NotImplementedError, match="Optimizer defines neither update"):
        optim.Optimizer([p], {}).step()


# ---- what is wrong with a step ------------------------------------------------------------------


def warned(optimizer):
    """Return the warnings of two steps; each must point to the line that called `step`."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        optimizer.step()
        optimizer.step()
    assert all(w.filename == __file__ for w in heard)
    return [str(w.message) for w in heard]


def test_no_gradient_at_all():
    p, q = parameter(), parameter()
    (text,) = warned(optim.SGD([p, q], lr=0.1))
    assert text.startswith("SGD.step() changed nothing: none of its 2 parameters has a gradient. ")
    assert "backward() was not called, or zero_grad() was called after it" in text


def test_a_schedule_that_is_plotted_is_no_mistake():
    optimizer = optim.SGD([parameter()], lr=0.1)
    optim.lr_scheduler.StepLR(optimizer, 3)
    assert warned(optimizer) == []


def test_no_gradient_under_a_schedule():
    optimizer = optim.SGD([p := parameter()], lr=0.1)
    optim.lr_scheduler.StepLR(optimizer, 3)
    (p.detach() * p).sum()
    assert len(warned(optimizer)) == 1


def test_nothing_requires_grad():
    p = tn.ones(2)
    (text,) = warned(optim.Adam([p]))
    assert text == (
        "Adam.step() changed nothing: its parameter has no gradient. "
        "Likely: nothing in it requires grad."
    )


def test_some_without_gradient_is_no_mistake():
    p, frozen, unused = parameter(), parameter().requires_grad_(False), parameter()
    optimizer = optim.SGD([p, frozen, unused], lr=0.1)
    p.grad = tn.ones(2)
    assert warned(optimizer) == []


def test_a_gradient_set_by_hand_is_no_mistake():
    p = tn.ones(2)
    p.grad = tn.ones(2)
    assert warned(optim.SGD([p], lr=0.1)) == []


def test_a_layer_that_was_replaced():
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(tn.ones(1, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    model[1] = nn.Linear(3, 1)
    model(tn.ones(1, 2)).sum().backward()
    (text,) = warned(optimizer)
    assert text.startswith(
        "Parameter 2 of SGD (shape [1, 3]) belongs to no module any more: the model, or this layer"
    )


def test_a_model_that_was_copied():
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.named_parameters(), lr=0.1)
    model = copy.deepcopy(model)
    model(tn.ones(1, 2)).sum().backward()
    (text,) = warned(optimizer)
    assert text.startswith("The parameter 'weight' of SGD belongs to no module any more")


def test_a_parameter_that_was_replaced_in_its_module_is_found_although_it_is_held_elsewhere():
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    old = model[1].weight
    model[1].weight = nn.Parameter(old.detach().clone())
    model(tn.ones(1, 2)).sum().backward()
    (text,) = warned(optimizer)
    assert text.startswith("Parameter 2 of SGD (shape [1, 3]) belongs to no module any more")


def test_a_shared_parameter_belongs_to_the_module_that_is_left():
    one, other = nn.Linear(2, 2), nn.Linear(2, 2)
    other.weight = one.weight
    optimizer = optim.SGD([one.weight, other.bias], lr=0.1)
    del one
    other.bias.sum().backward()
    assert warned(optimizer) == []


def test_a_model_that_still_exists_is_not_reported():
    """The limit of the diagnosis, documented in Optimizer."""
    old = nn.Linear(2, 1)
    optimizer = optim.SGD(old.parameters(), lr=0.1)
    nn.Linear(2, 1)(tn.ones(1, 2)).sum().backward()
    (text,) = warned(optimizer)
    assert "or they are not the parameters of the model that was run" in text


def test_a_parameter_that_became_a_result():
    p, q = parameter(1.0, 2.0), parameter(3.0)
    optimizer = optim.SGD([{"params": [q]}, {"params": [p]}], lr=0.1)
    p[0] = 5.0  # recorded
    (q * q).sum().backward()
    (text,) = warned(optimizer)
    assert text.startswith(
        "Parameter 0 of group 1 of SGD (shape [2]) is no longer a leaf: it became the result of a "
        "recorded operation, test_optimizer.py:"
    )
    assert "`p[0] = 5.0  # recorded`" in text and "no_grad():" in text


def test_a_frozen_parameter_that_an_old_gradient_still_moves():
    p = parameter(1.0)
    optimizer = optim.SGD([p], lr=0.1)
    (p * p).sum().backward()
    p.requires_grad_(False)
    (text,) = warned(optimizer)
    assert text.startswith("Parameter 0 of SGD (shape [1]) no longer requires grad, but still has")


# ---- hooks --------------------------------------------------------------------------------------


def test_hooks_of_all_optimizers_stand_around_those_of_one():
    heard, p = [], parameter()
    one = optim.SGD([p], lr=0.1)
    p.grad = tn.ones(2)
    one.register_step_pre_hook(lambda o, args, kwargs: heard.append("own before"))
    one.register_step_post_hook(lambda o, args, kwargs: heard.append("own after"))
    before = optim.optimizer.register_optimizer_step_pre_hook(
        lambda o, args, kwargs: heard.append(("before", o is one, args == (one,), kwargs))
    )
    after = optim.optimizer.register_optimizer_step_post_hook(
        lambda o, args, kwargs: heard.append("after")
    )
    one.step()
    before.remove()
    after.remove()
    one.step()
    assert heard[:4] == [("before", True, True, {}), "own before", "own after", "after"]
    assert heard[4:] == ["own before", "own after"]


def test_a_hook_may_replace_the_arguments():
    p, called = parameter(1.0), []
    p.grad = tn.ones(1)
    optimizer = optim.SGD([p], lr=0.5)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: called.append(1)), {}))
    optimizer.step()
    assert called == [1] and p.tolist() == [0.5]
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 5)
    with pytest.raises(RuntimeError, match="must return None or a tuple of .*, but got 5"):
        optimizer.step()
    assert p.tolist() == [0.5]


def test_hooks_run_around_a_step_of_ones_own_and_once_where_steps_call_each_other():
    class Twice(optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            return super().step(closure)

    p, heard = parameter(1.0), []
    p.grad = tn.ones(1)
    optimizer = Twice([p], lr=0.25)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: heard.append("before"))
    optimizer.step()
    assert p.tolist() == [0.5] and heard == ["before"] and optimizer.stepped


def test_hooks_of_saving():
    p, heard = parameter(), []
    optimizer = optim.SGD([p], lr=0.1)
    optimizer.register_state_dict_pre_hook(lambda o: heard.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: heard.append("first"), prepend=True)
    extra = optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    optimizer.register_state_dict_post_hook(lambda o, state: heard.append(sorted(state)))
    assert optimizer.state_dict()["extra"] == 1
    assert heard == ["first", "second", ["extra", "param_groups", "state"]]
    extra.remove()
    assert "extra" not in optimizer.state_dict()


def test_hooks_of_loading():
    p, heard = parameter(), []
    optimizer = optim.SGD([p], lr=0.1)
    saved = optimizer.state_dict()

    def renamed(o, state):
        assert state is not saved
        groups = [{**g, "lr": 7.0} for g in state["param_groups"]]
        return {**state, "param_groups": groups}

    optimizer.register_load_state_dict_pre_hook(renamed)
    optimizer.register_load_state_dict_post_hook(lambda o: heard.append(o.param_groups[0]["lr"]))
    optimizer.register_load_state_dict_post_hook(lambda o: heard.append("first"), prepend=True)
    optimizer.load_state_dict(saved)
    assert heard == ["first", 7.0] and saved["param_groups"][0]["lr"] == 0.1


# ---- what is kept between steps follows what users replace --------------------------------------


def layouts(values):
    """Return the same values in several memory layouts."""
    spread = np.zeros((values.shape[0], 2 * values.shape[1]), values.dtype)
    spread[:, ::2] = values
    return {
        "rows": values.copy(),
        "columns": values.T.copy().T,
        "gaps": spread[:, ::2],
    }


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_blocks_give_what_the_whole_gives_in_any_layout(name, monkeypatch):
    random = np.random.RandomState(0)
    values, grads = random.standard_normal((23, 17)), random.standard_normal((3, 23, 17))
    found = {}
    for size in (1 << 20, 64 * 8):
        monkeypatch.setattr("tinynet.optim.base.groups.BLOCK", size)
        for layout, array in layouts(values).items():
            p = tn.from_numpy(array).requires_grad_()
            optimizer = getattr(optim, name)([p], lr=0.01, **RUN[name].full)
            for i, grad in enumerate(grads):
                p.grad = tn.from_numpy(np.asfortranarray(grad) if i == 1 else grad.copy())
                optimizer.step()
            assert p._array is array and p._version == 3
            found[size, layout] = p.detach().numpy().copy()
    first = next(iter(found.values()))
    for one in found.values():
        np.testing.assert_array_equal(one, first)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_a_parameter_whose_data_was_replaced_goes_on_there(name):
    def run(replace):
        p = tn.tensor([1.0, -2.0, 3.0], dtype=tn.float64, requires_grad=True)
        optimizer = getattr(optim, name)([p], lr=0.1, **RUN[name].full)
        for step in range(4):
            if step == 2 and replace:
                old = p.detach()
                p.data = p.detach().clone()
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()
        if replace:
            assert old.tolist() != p.tolist()
        return p.tolist()

    assert run(True) == run(False)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_state_that_was_replaced_or_changed_is_used(steps):
    def run(change):
        p = parameter(1.0, 2.0)
        optimizer = optim.Adam([p], lr=0.1)
        descend(optimizer, [p], steps)
        change(optimizer, p)
        descend(optimizer, [p])
        return p.tolist(), optimizer.state[p]["step"].item()

    def replaced(optimizer, p):
        optimizer.state[p]["exp_avg"] = tn.ones(2)

    def written(optimizer, p):
        optimizer.state[p]["exp_avg"].fill_(1.0)

    def new_memory(optimizer, p):
        optimizer.state[p]["exp_avg"].data = tn.ones(2)

    def new_dict(optimizer, p):
        optimizer.state[p] = {**optimizer.state[p], "exp_avg": tn.ones(2)}

    def later(optimizer, p):
        optimizer.state[p]["step"].fill_(9.0)

    expected = run(written)
    assert run(replaced) == run(new_memory) == run(new_dict) == expected
    assert run(lambda optimizer, p: None)[0] != expected[0] and run(later)[1] == 10.0


def test_state_that_is_deleted_starts_again():
    p = parameter(1.0, 2.0)
    optimizer = optim.Adam([p], lr=0.1)
    descend(optimizer, [p], 2)
    del optimizer.state[p]
    descend(optimizer, [p])
    assert optimizer.state[p]["step"].item() == 1.0


def test_options_that_are_changed_between_steps():
    p = parameter(1.0, 2.0)
    optimizer = optim.SGD([p], lr=0.1)
    group = optimizer.param_groups[0]
    descend(optimizer, [p])
    assert p not in optimizer.state
    group["momentum"] = 0.9
    descend(optimizer, [p])
    assert optimizer.state[p]["momentum_buffer"].tolist() == p.grad.tolist()
    group["momentum"] = 0
    before = p.tolist()
    descend(optimizer, [p])
    assert p.tolist() == near([x - 0.1 * 2 * x for x in before])


def test_parameters_of_one_group_may_be_at_different_steps():
    a, b, c = parameter(1.0), parameter(1.0), parameter(1.0)
    optimizer = optim.Adam([a, b, c], lr=0.1)
    descend(optimizer, [a, c])
    descend(optimizer, [a, b, c])
    assert [optimizer.state[p]["step"].item() for p in (a, b, c)] == [2.0, 1.0, 2.0]
    alone = parameter(1.0)
    descend(optim.Adam([alone], lr=0.1), [alone])
    assert b.tolist() == alone.tolist() and a.tolist() == c.tolist()


def test_a_pickled_optimizer_goes_on():
    p = parameter(1.0, 2.0)
    optimizer = optim.Adam([p], lr=0.1, betas=(0.5, 0.9))
    descend(optimizer, [p], 2)
    q, again = pickle.loads(pickle.dumps((p, optimizer)))
    descend(optimizer, [p])
    descend(again, [q])
    assert p.tolist() == q.tolist() and again.param_groups[0]["params"][0] is q


def test_steps_are_reported_to_observers():
    p, seen = parameter(1.0, 2.0), []
    optimizer = optim.Adam([p], lr=0.1)
    (p * p).sum().backward()
    with observing(lambda op, inputs, outputs, attributes: seen.append((op, inputs, outputs))):
        optimizer.step()
    ((op, inputs, outputs),) = seen
    assert op.writes and op.title == "Adam.step" and outputs == [p._array]
    state = optimizer.state[p]
    held = [p, p.grad, *state.values()]
    assert [id(a) for a in inputs] == [id(t._array) for t in held]


def test_other_parameters_for_a_while():
    p, q = parameter(1.0), tn.zeros(1)
    optimizer = optim.SGD([p], lr=0.5, momentum=0.5)
    p.grad, q.grad = tn.ones(1), tn.ones(1)
    optimizer.step()
    buffer, params = optimizer.state[p]["momentum_buffer"], optimizer.param_groups[0]["params"]
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0]["lr"] = 1.0
    with pytest.raises(ZeroDivisionError):
        with optim.swap_in_optimizer_params_and_state(optimizer, {"q": q}, saved):
            optimizer.step()
            raise ZeroDivisionError
    assert q.tolist() == [-1.5] and p.tolist() == [0.5]
    assert saved["state"][0]["momentum_buffer"].tolist() == [1.5] and buffer.tolist() == [1.0]
    assert optimizer.param_groups[0]["params"] is params and params == [p]
    assert optimizer.param_groups[0]["lr"] == 0.5
    optimizer.step()
    assert buffer.tolist() == [1.5]


# ---- sparse gradients ---------------------------------------------------------------------------


def test_only_the_rows_of_a_sparse_gradient_are_moved():
    table = nn.Embedding(4, 2, sparse=True)
    before, version = table.weight.detach().clone(), table.weight._version
    for name in ("SGD", "Adagrad", "SparseAdam"):
        optimizer = getattr(optim, name)(table.parameters(), lr=0.1)
        table(tn.tensor([1, 3, 1])).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        moved = (table.weight.detach() != before).any(1)
        assert moved.tolist() == [False, True, False, True], name
    assert table.weight._version == version + 3


def test_a_sparse_gradient_that_cannot_be_used_changes_nothing():
    table, bias = nn.Embedding(4, 2, sparse=True), parameter(1.0)
    optimizer = optim.Adam([bias, table.weight], lr=0.1)
    (table(tn.tensor([1])).sum() + bias.sum()).backward()
    with pytest.raises(RuntimeError, match="please consider SparseAdam instead"):
        optimizer.step()
    assert bias.tolist() == [1.0] and not optimizer.state and not bias._version


def test_lbfgs_stays_where_the_gradient_is_zero():
    param = nn.Parameter(tn.ones(2))
    param.grad = tn.zeros(2)
    optimizer = optim.LBFGS([param], tolerance_grad=-1.0)
    assert optimizer.step(lambda: tn.tensor(10.0)).item() == 10
    assert param.tolist() == [1.0, 1.0]


def test_rprop_passes_over_nan():
    """As PyTorch 2.13: the sign of NaN is 0, and the step size stays."""
    param = tn.tensor([1.0, 2.0, 3.0], requires_grad=True)
    optimizer = optim.Rprop([param])
    for grad in ([1.0, np.nan, np.inf], [1.0, 1.0, 1.0], [-1.0, np.nan, -np.inf], [1.0, 2.0, 3.0]):
        param.grad = tn.tensor(grad)
        optimizer.step()
    assert param.tolist() == near([0.972, 1.98, 2.972])
    assert optimizer.state[param]["step_size"].tolist() == near([0.006, 0.01, 0.006])


# ---- 16-bit floats ----

OVERFLOWS = {"Adagrad": "the sum of squares is above float16's range, also in PyTorch"}


@pytest.mark.parametrize("size", [1.0, 300.0])
@pytest.mark.parametrize("dtype", [tn.float16, tn.bfloat16], ids=str)
@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n not in OVERFLOWS])
def test_steps_of_halves(name, dtype, size):
    """Computed in float32; parameters and state are rounded once in each step."""

    def trained(dtype):
        p = nn.Parameter(tn.ones(7, dtype=dtype))
        optimizer = getattr(optim, name)([p], **{"lr": 0.1, **RUN[name].full})
        for _ in range(3):
            p.grad = tn.full((7,), size, dtype=dtype)
            optimizer.step()
        return p.detach()

    exact = trained(tn.float32).double()
    error = (trained(dtype).double() - exact).abs().max().item()
    assert error <= 8 * tn.finfo(dtype).eps * max(1.0, exact.abs().max().item())


@pytest.mark.parametrize(
    ("t", "options", "expected"),
    [  # PyTorch's loss, length and number of evaluations
        (1e-3, {}, (31.312541889869724, 0.005505, 2)),
        (1.0, {}, (8.32855891350639, 0.06897380284649218, 4)),
        (10.0, {"c2": 0.1}, (6.712897640018468, 0.042234557854894675, 7)),
        (10.0, {"max_ls": 3}, (43.56187448721958, 0.0, 4)),
    ],
)
def test_the_line_search_that_libraries_import(t, options, expected):
    def objective(x, t, d):
        y = (x + t * d).detach().requires_grad_()
        loss = (y**4).sum() + 3 * (y - 1).pow(2).sum() + tn.cos(3 * y).sum()
        return loss.item(), tn.autograd.grad(loss, y)[0]

    x = tn.tensor([2.0, -1.5], dtype=tn.float64)
    f, g = objective(x, 0, tn.zeros_like(x))
    loss, grad, length, evaluations = lbfgs._strong_wolfe(
        objective, x, t, -g, f, g, -g.dot(g), **options
    )
    assert (loss, length, evaluations) == near(expected, 1000, dtype=np.float64)
    assert tn.allclose(grad, objective(x, length, -g)[1])
    ends = 0.0, tn.tensor(1.0), tn.tensor(-1.0), 2.0, tn.tensor(1.5), tn.tensor(2.0)
    assert lbfgs._cubic_interpolate(*ends) == pytest.approx(0.9148542)
    assert lbfgs._cubic_interpolate(*ends[3:], *ends[:3], bounds=(0.1, 0.3)) == 0.3
