"""nn.utils.prune: masks, what they choose, and what becomes of the module."""

from __future__ import annotations

import importlib

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def pruning(T):
    return importlib.import_module(f"{T.__name__}.nn.utils.prune")


def without(variables, names):
    return {name: value for name, value in variables.items() if name not in names.split()}


def linear(T):
    net = T.nn.Linear(3, 4)
    with T.no_grad():
        for p in net.parameters():
            n = T.arange(p.numel()).reshape(p.shape)
            p.copy_((n * 7 % 12 - 5.3) * (n + 9) / 40)
    return net


@program
def numbers_of_smallest_magnitude(T):
    prune = pruning(T)
    net = prune.l1_unstructured(linear(T), "weight", amount=0.3)
    state, weight = net.state_dict(), net.weight
    names = [n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()]
    net(T.ones(2, 3)).sum().backward()
    pruned = prune.is_pruned(net), prune.is_pruned(T.nn.Sequential(net)), prune.is_pruned(linear(T))
    scores = T.arange(4.0)
    by_scores = prune.l1_unstructured(linear(T), "bias", 2, importance_scores=scores)
    return without(locals(), "prune")


@program
def pruned_twice_and_made_permanent(T):
    prune = pruning(T)
    net = prune.l1_unstructured(linear(T), "weight", amount=4)
    prune.ln_structured(net, "weight", amount=1, n=2, dim=0)
    mask, hooks = net.weight_mask, len(net._forward_pre_hooks)
    prune.l1_unstructured(net, "weight", amount=0.5)
    third = net.weight_mask
    prune.remove(net, "weight")
    state, left = net.state_dict(), len(net._forward_pre_hooks)
    is_parameter = isinstance(net.weight, T.nn.Parameter)
    error = attempt(lambda: prune.remove(net, "weight"))
    error = type(error).__name__
    return without(locals(), "prune")


@program
def slices_of_smallest_norm(T):
    prune = pruning(T)
    masks = [
        prune.ln_structured(linear(T), "weight", amount, n=n, dim=dim).weight_mask
        for amount, n, dim in [(1, 2, 0), (0.5, 1, 1), (2, float("inf"), -1), (0, 2, 0)]
    ]
    conv = T.nn.Conv2d(2, 3, 2)
    with T.no_grad():
        conv.weight.copy_((T.arange(24.0) * 5 % 17).reshape(3, 2, 2, 2))
    channels = prune.ln_structured(conv, "weight", 1, 2, 1).weight_mask
    counts = [
        int(prune.random_structured(linear(T), "weight", 1, dim).weight_mask.sum())
        for dim in (0, 1)
    ]
    count = int(prune.random_unstructured(linear(T), "weight", 0.25).weight_mask.sum())
    return without(locals(), "prune conv")


@program
def several_parameters_at_once(T):
    prune = pruning(T)
    a, b = linear(T), linear(T)
    b.weight.data += 0.03
    a.bias.data *= 1.1
    pairs = [(a, "weight"), (a, "bias"), (b, "weight")]
    prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.4)
    masks = [getattr(m, n + "_mask") for m, n in pairs]
    prune.global_unstructured(pairs[:2], pruning_method=prune.L1Unstructured, amount=2)
    again = a.weight_mask, a.bias_mask
    errors = [
        attempt(lambda: prune.global_unstructured(3, prune.L1Unstructured, amount=1)),
        attempt(lambda: prune.global_unstructured(pairs, prune.L1Unstructured, [1], amount=1)),
    ]
    error = type(
        attempt(lambda: prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=2))
    ).__name__
    return without(locals(), "prune pairs a b")


@program
def masks_of_ones_own(T):
    prune = pruning(T)
    mask = T.tensor([1, 0, 1, 0])
    net = prune.custom_from_mask(linear(T), "bias", mask)
    state = net.state_dict()
    nothing = prune.identity(linear(T), "weight").weight_mask
    kept = prune.L1Unstructured(2).prune(T.tensor([1.0, -4.0, 2.0, 3.0]))
    scored = prune.L1Unstructured(1).prune(T.ones(2), importance_scores=T.tensor([2.0, 1.0]))

    class Negative(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            return default_mask * (t >= 0)

    Negative.apply(net, "weight")
    negative = net.weight
    return without(locals(), "prune Negative")


@program
def what_pruning_refuses(T):
    prune = pruning(T)
    errors = [
        attempt(lambda: prune.l1_unstructured(linear(T), "weight", amount="a")),
        attempt(lambda: prune.l1_unstructured(linear(T), "weight", amount=-1)),
        attempt(lambda: prune.l1_unstructured(linear(T), "weight", amount=1.5)),
        attempt(lambda: prune.l1_unstructured(linear(T), "weight", amount=13)),
        attempt(lambda: prune.ln_structured(linear(T), "bias", 1, 2, 0)),
        attempt(lambda: prune.ln_structured(linear(T), "weight", 1, 2, 2)),
        attempt(lambda: prune.L1Unstructured(1).prune(T.ones(2), importance_scores=T.ones(3))),
        attempt(lambda: prune.custom_from_mask(linear(T), "bias", T.ones(3))),
        attempt(lambda: prune.PruningContainer().add_pruning_method(3)),
    ]
    return without(locals(), "prune")
