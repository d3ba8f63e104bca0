"""state_dict and load_state_dict: keys, metadata, mismatches, hooks, extra state."""

from __future__ import annotations

from collections import OrderedDict

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def pair(T, cls=None):
    """A module with a parameter, a buffer, one that is not saved, and a child of the same kind."""
    made = []
    for _ in range(2):
        net = (cls or T.nn.Module)()
        net.weight = T.nn.Parameter(T.arange(2.0))
        net.register_buffer("mean", T.ones(3))
        net.register_buffer("cache", T.zeros(1), persistent=False)
        made.append(net)
    made[0].inner = made[1]
    return made[0]


@program
def saving(T):
    net = pair(T)
    state = net.state_dict()
    kind, metadata = type(state).__name__, state._metadata
    shares = state["weight"].data_ptr() == net.weight.data_ptr()
    kept = net.state_dict(keep_vars=True)["weight"] is net.weight
    prefixed = list(net.state_dict(prefix="net."))
    mine = {"before": 1}
    same = net.state_dict(destination=mine) is mine
    net.mean = None
    without = list(net.state_dict())
    return locals()


@program
def loading_reports_what_it_could_not_match(T):
    net = pair(T)
    other = {"weight": T.zeros(2), "inner.mean": T.zeros(3), "inner.cache": 1, "q": 1, "q.r": 1}
    report = net.load_state_dict(other, strict=False)
    missing, unexpected, text = report.missing_keys, report.unexpected_keys, str(report)
    full = str(net.load_state_dict(pair(T).state_dict()))
    return locals()


@program
def mismatches_are_told_at_once(T):
    net = pair(T)
    net.scale = T.nn.Parameter(T.tensor(1.0))
    given = {"weight": T.zeros(3), "inner.weight": 3, "mean": T.zeros(3), "scale": T.tensor([2.0])}
    strict = attempt(lambda: net.load_state_dict(given))
    loose = attempt(lambda: net.load_state_dict(given, strict=False))
    whole = str(loose).replace("torch", "tinynet").split("\n")
    no_mapping = attempt(lambda: net.load_state_dict([1]))
    return locals()


@program
def assigning_takes_the_tensors(T):
    net = pair(T)
    net.weight.requires_grad_(False)
    given = {
        "weight": T.zeros(2, dtype=T.float32),
        "mean": T.zeros(3),
        "inner.weight": T.nn.Parameter(T.ones(2)),
        "inner.mean": T.zeros(3),
    }
    net.load_state_dict(given, assign=True)
    same = [
        net.inner.weight is given["inner.weight"],
        net.mean is given["mean"],
        net.weight.data_ptr() == given["weight"].data_ptr(),
    ]
    return locals()


@program
def loading_converts(T):
    net = pair(T)
    net.load_state_dict({"weight": T.tensor([3, 4]), "mean": T.zeros(3).float()}, strict=False)
    return locals()


@program
def extra_state(T):
    class Counts(T.nn.Module):
        seen = 3

        def get_extra_state(self):
            return {"seen": self.seen}

        def set_extra_state(self, state):
            self.seen = state["seen"]

    net = pair(T, Counts)
    state = net.state_dict()
    keys = list(state)
    net.seen, net.inner.seen = 0, 1
    text = str(net.load_state_dict(state))
    seen = net.seen, net.inner.seen
    del state["inner._extra_state"]
    missing = attempt(lambda: net.load_state_dict(state))
    unexpected = attempt(lambda: T.nn.Identity().load_state_dict({"_extra_state": 1}))
    return locals()


@program
def hooks_around_saving(T):
    net, log = pair(T), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(["pre", prefix, keep]))
    net.inner.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(["pre", prefix]))
    net.inner.register_state_dict_post_hook(
        lambda m, state, prefix, local: state.update({prefix + "more": 1})
    )
    net.register_state_dict_post_hook(lambda m, state, prefix, local: log.append(dict(local)))
    keys = list(net.state_dict(prefix="net."))
    return locals()


@program.fails
def a_post_hook_on_saving_returns_nothing(T):
    _net = pair(T)
    _net.register_state_dict_post_hook(lambda m, state, prefix, local: state)
    _net.state_dict()


@program
def a_private_post_hook_may_return_another_dictionary(T):
    net = pair(T)
    with net._register_state_dict_hook(lambda m, state, prefix, local: {"only": 1}):
        state = net.state_dict()
    inner = net.inner._register_state_dict_hook(lambda m, state, prefix, local: {"only": 1})
    keys = list(net.state_dict())
    return locals()


@program
def hooks_around_loading(T):
    net, log = pair(T), []

    def rename(module, state, prefix, local, strict, missing, unexpected, errors):
        log.append([module is net.inner, prefix, strict, sorted(local), len(missing)])
        state[prefix + "weight"] = state.pop(prefix + "old")

    net.inner.register_load_state_dict_pre_hook(rename)
    net.register_load_state_dict_post_hook(lambda m, keys: log.append([m is net, list(keys)]))
    state = net.state_dict()
    state["inner.old"] = state.pop("inner.weight") + 5
    text = str(net.load_state_dict(state))
    return locals()


@program
def a_private_pre_hook_gets_the_module_only_if_asked(T):
    net, log = pair(T), []
    net._register_load_state_dict_pre_hook(lambda *a: log.append([len(a), a[1]]))
    net._register_load_state_dict_pre_hook(
        lambda *a: log.append([len(a), a[0] is net]), with_module=True
    )
    net.load_state_dict(net.state_dict())
    return locals()


@program
def a_post_hook_on_loading_forgives(T):
    net = pair(T)
    net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    text = str(net.load_state_dict({}))
    return locals()


@program.fails
def a_post_hook_on_loading_returns_nothing(T):
    net = pair(T)
    net.register_load_state_dict_post_hook(lambda m, keys: keys)
    net.load_state_dict({}, strict=False)


@program
def pre_hooks_add_errors(T):
    net = pair(T)
    net._register_load_state_dict_pre_hook(lambda *a: a[6].append("this does not fit"))
    error = attempt(lambda: net.load_state_dict(net.state_dict()))
    whole = str(error).split("\n")
    return locals()


@program
def versions_of_the_format(T):
    class Renamed(T.nn.Module):
        _version = 2

        def __init__(self):
            super().__init__()
            self.new = T.nn.Parameter(T.ones(1))

        def _load_from_state_dict(self, state, prefix, local, *rest):
            if local.get("version", 1) < 2:
                state[prefix + "new"] = state.pop(prefix + "old")
            super()._load_from_state_dict(state, prefix, local, *rest)

    net = T.nn.Sequential(Renamed())
    net.load_state_dict(OrderedDict({"0.old": T.zeros(1)}))
    metadata = net.state_dict()._metadata
    return locals()


@program
def own_ways_of_saving(T):
    class Twice(T.nn.Module):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "twice"] = self.weight.detach() * 2

    net = pair(T, Twice)
    keys = list(net.state_dict())
    return locals()


@program
def modules_that_share_a_parameter(T):
    net = pair(T)
    net.inner.weight = net.weight
    state = {k: v.clone() for k, v in net.state_dict().items()}
    state["inner.weight"] = T.tensor([7.0, 8.0])
    net.load_state_dict(state)
    same = net.inner.weight is net.weight
    return locals()
