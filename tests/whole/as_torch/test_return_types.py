"""Classes of results, paths in nested containers, and what ``torch.cuda`` answers without a GPU."""

import copy
import pickle
from collections import OrderedDict, namedtuple

import pytest

import tinynet as tn
from tinynet.compat import pytree
from tinynet.compat.native import return_types

Pair = namedtuple("Pair", "a b")


def test_results_are_of_these_classes():
    x = tn.tensor([[3.0, 1.0], [2.0, 4.0]])
    for name, found in {
        "max": x.max(0),
        "topk": x.topk(1),
        "sort": x.sort(),
        "linalg_qr": tn.linalg.qr(x),
        "svd": x.svd(),
        "aminmax": tn.aminmax(x),
    }.items():
        cls = getattr(return_types, name)
        assert type(found) is cls and cls in return_types.all_return_types
    again = pickle.loads(pickle.dumps(x.max(0)))
    assert type(again) is return_types.max and again.indices.tolist() == [0, 1]


def test_paths_name_the_way_to_a_leaf():
    tree = {"x": [1, (2, 3)], "y": Pair(4, OrderedDict(z=5))}
    found = {pytree.keystr(path): leaf for path, leaf in pytree.tree_leaves_with_path(tree)}
    assert found == {
        "['x'][0]": 1,
        "['x'][1][0]": 2,
        "['x'][1][1]": 3,
        "['y'].a": 4,
        "['y'].b['z']": 5,
    }
    paths, spec = pytree.tree_flatten_with_path(tree)
    assert spec == pytree.tree_structure(tree)
    assert [pytree.key_get(tree, path) for path, _ in paths] == [1, 2, 3, 4, 5]
    lengths = pytree.tree_map_with_path(lambda path, a, b: (len(path), a + b), tree, tree)
    assert lengths["y"].b["z"] == (3, 10)


def test_a_class_without_steps_has_no_paths():
    class Box:
        def __init__(self, content):
            self.content = content

    pytree.register_pytree_node(Box, lambda box: ([box.content], None), lambda c, _: Box(*c))
    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
        pytree.tree_leaves_with_path([Box(1)])
    pytree.register_dataclass(Box, field_names=["content"])
    ((path, leaf),) = pytree.tree_leaves_with_path([Box(1)])
    assert (pytree.keystr(path), leaf) == ("[0].content", 1)
    with pytest.raises(ValueError, match="field_names must be specified"):
        pytree.register_dataclass(int)


def test_questions_of_trees():
    assert pytree.is_namedtuple(Pair) and pytree.is_namedtuple_instance(Pair(1, 2))
    assert not pytree.is_namedtuple_instance(Pair) and not pytree.is_namedtuple((1,))
    assert pytree.tree_any_only(int, lambda n: n > 1, [1, "a", 2])
    assert not pytree.tree_all_only(int, lambda n: n > 1, [1, "a", 2])
    assert pytree.arg_tree_leaves(1, [2], a=3) == [1, 2, 3]
    zeros = [tn.ones(1), "a"]
    assert pytree.tree_map_only_(tn.Tensor, tn.Tensor.zero_, zeros) is zeros
    assert zeros[0].item() == 0


def test_debug_modes_of_determinism():
    with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 3"):
        tn.set_deterministic_debug_mode(3)
    with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`, but got x"):
        tn.set_deterministic_debug_mode("x")
    with pytest.raises(TypeError, match="debug_mode must be str or int, but got <class 'float'>"):
        tn.set_deterministic_debug_mode(1.5)


def test_sparse_tensors_are_copied_and_pickled():
    x = tn.sparse_coo_tensor([[0, 1, 0], [2, 0, 2]], [1.0, 2.0, 3.0], (2, 3), requires_grad=True)
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert again.is_sparse and again.values().requires_grad
        assert again.to_dense().tolist() == x.to_dense().tolist()
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(tn.sparse.softmax(x, 1))


def test_modules_of_devices():
    assert tn.get_device_module("cuda") is tn.cuda
    with pytest.raises(RuntimeError, match="does not have a corresponding module"):
        tn.get_device_module("meta")
