"""States by the names of parameters; the answers are those of PyTorch 2.13.0."""

import pytest

import tinynet as tn
from tests.unit.distributed.launching import needs_mpi, passes
from tinynet import nn, optim
from tinynet.compat.parallel.state_dicts import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)

NAMES = ["0.weight", "0.bias", "1.weight", "1.bias"]
FLAT = StateDictOptions(flatten_optimizer_state_dict=True)


def network():
    return nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))


def trained(model, optimizer):
    for _ in range(2):
        optimizer.zero_grad()
        model(tn.ones(4, 2)).sum().backward()
        optimizer.step()
    optimizer.zero_grad()
    return optimizer


def test_an_optimizer_that_took_no_step_gets_its_first_state():
    model = network()
    before = [p.detach().clone() for p in model.parameters()]
    optimizer = optim.AdamW(model.parameters(), lr=0.5)
    state = get_optimizer_state_dict(model, optimizer)
    assert [*state["state"]] == NAMES and state["state"]["1.bias"]["step"] == 1
    assert state["param_groups"][0]["params"] == NAMES and state["param_groups"][0]["lr"] == 0.5
    assert all(p.equal(q) for p, q in zip(model.parameters(), before, strict=True))
    assert (
        all(p.grad is None for p in model.parameters()) and optimizer.param_groups[0]["lr"] == 0.5
    )


@pytest.mark.parametrize("options", [None, FLAT])
def test_an_optimizer_continues_from_the_state_of_another(options):
    model = network()
    groups = [{"params": [*model[1].parameters()]}, {"params": [*model[0].parameters()], "lr": 0.1}]
    old = trained(model, optim.Adam(groups, lr=0.2))
    state = get_optimizer_state_dict(model, old, options=options)
    other = [{"params": [p]} for p in model.parameters()]  # in another order, of four groups
    new = optim.Adam(other, lr=9.0)
    set_optimizer_state_dict(model, new, state, options=options)
    assert [g["lr"] for g in new.param_groups] == [0.1, 0.1, 0.2, 0.2]
    for p in model.parameters():
        assert new.state[p]["exp_avg"].equal(old.state[p]["exp_avg"]) and new.state[p]["step"] == 2


def test_flat_states_have_one_level():
    model = nn.Linear(2, 1, bias=False)
    optimizer = trained(model, optim.SGD(model.parameters(), lr=0.5, momentum=0.5))
    flat = get_optimizer_state_dict(model, optimizer, options=FLAT)
    assert [*flat][:3] == [
        "state.weight.momentum_buffer",
        "param_groups.weight.lr",
        "param_groups.weight.momentum",
    ]


def test_several_optimizers_share_a_state():
    model = network()
    parts = [
        trained(model, optim.Adam(m.parameters(), lr=r))
        for m, r in zip(model, (0.1, 0.2), strict=True)
    ]
    state, held = get_state_dict(model, parts)
    assert [*state] == [*held["state"]] == NAMES
    fresh = [optim.Adam(m.parameters()) for m in model]
    found = set_state_dict(model, fresh, model_state_dict=state, optim_state_dict=held)
    assert not found.missing_keys and [o.param_groups[0]["lr"] for o in fresh] == [0.1, 0.2]
    assert get_state_dict(model, [])[1] == {}


def test_entries_of_models_are_chosen():
    model = network()
    model[0].weight.requires_grad_(False)
    trainable = StateDictOptions(ignore_frozen_params=True)
    assert [*get_model_state_dict(model, options=trainable)] == NAMES[1:]
    assert [*get_model_state_dict(model, submodules={model[1]})] == NAMES[2:]
    short = StateDictOptions(keep_submodule_prefixes=False)
    assert [*get_model_state_dict(model, submodules={model[1]}, options=short)] == [
        "weight",
        "bias",
    ]


def test_what_is_missing_is_an_error_unless_it_is_allowed():
    model, loose = network(), StateDictOptions(strict=False)
    state, held = get_state_dict(model, optim.Adam(model.parameters()))
    del state["0.bias"], held["state"]["0.bias"]
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "0.bias"'):
        set_model_state_dict(model, state)
    assert set_model_state_dict(model, state, options=loose).missing_keys == ["0.bias"]
    fresh = optim.Adam(model.parameters())
    with pytest.raises(RuntimeError, match="Missing optimizer state for parameter '0.bias'"):
        set_optimizer_state_dict(model, fresh, held)
    set_optimizer_state_dict(model, fresh, held, options=loose)
    assert model[0].bias not in fresh.state


def test_refusals():
    model = network()
    stranger = optim.SGD([tn.ones(1, requires_grad=True)])
    for error, message, call in (
        (RuntimeError, "optim_only", lambda: get_optimizer_state_dict(model, ())),
        (RuntimeError, "is empty", lambda: set_optimizer_state_dict(model, stranger, {})),
        (KeyError, "0", lambda: get_optimizer_state_dict(model, stranger)),
        (
            ValueError,
            "full_state_dict must be True",
            lambda: get_model_state_dict(
                model, options=StateDictOptions(broadcast_from_rank0=True)
            ),
        ),
    ):
        with pytest.raises(error, match=message):
            call()


@needs_mpi
def test_process_0_has_the_state_and_passes_it():
    passes("state_dicts.py", 2)
