"""deepcopy, copy, pickle, clone, and weak references: what of a tensor goes along."""

import copy
import gc
import pickle
import weakref

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def deepcopy_of_a_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = copy.deepcopy(x)
    y.data.add_(1)
    (x * y).sum().backward()
    return locals()


@program
def deepcopy_takes_the_gradient_along(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    x.grad.zero_()
    return locals()


@program
def deepcopy_of_a_result_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    errors = [attempt(lambda: copy.deepcopy(y)), attempt(lambda: copy.deepcopy(x[:1]))]
    return locals()


@program
def deepcopy_of_a_constant_result(T):
    y = T.tensor([1.0, 2.0]) * 2
    z = copy.deepcopy(y)
    return locals()


@program
def deepcopy_of_one_tensor_in_two_places(T):
    x = T.tensor([1.0], requires_grad=True)
    first, second = copy.deepcopy([x, x])
    return locals()


@program
def deepcopy_of_a_detached_result(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = copy.deepcopy((x * 2).detach())
    return locals()


@program
def deepcopy_of_views_keeps_their_memory_shared(T):
    base = T.arange(4.0)
    a, b = copy.deepcopy([base[:2], base[1:]])
    a.zero_()
    return locals()


@program
def deepcopy_of_a_base_and_its_view(T):
    base = T.arange(4.0)
    x, v = copy.deepcopy([base, base[1:]])
    v.zero_()
    return locals()


@program
def deepcopy_of_a_parameter_is_a_parameter(T):
    p = T.nn.Parameter(T.ones(2))
    q = copy.deepcopy(p)
    is_parameter = isinstance(q, T.nn.Parameter)
    return locals()


@program
def deepcopy_keeps_attributes(T):
    x = T.ones(2, requires_grad=True)
    x.note = ["kept"]
    y = copy.deepcopy(x)
    note, same = y.note, y.note is x.note
    return locals()


@program
def deepcopy_leaves_hooks_behind(T):
    x = T.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    y = copy.deepcopy(x)
    (x + y).sum().backward()
    return locals()


@program
def deepcopy_of_a_strided_tensor_keeps_its_strides(T):
    x = T.arange(6.0).view(2, 3).t()
    y = copy.deepcopy(x)
    strides = [x.stride(), y.stride()]
    return locals()


@program
def deepcopy_of_an_integer_tensor(T):
    x = T.tensor([1, 2])
    x.add_(1)
    y = copy.deepcopy(x)
    return locals()


@program
def a_shallow_copy_of_a_leaf(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = copy.copy(x)
    y.data.add_(1)
    return locals()


@program
def a_pickled_leaf_comes_back(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = pickle.loads(pickle.dumps(x))
    (y * y).sum().backward()
    return locals()


@program
def a_pickle_leaves_the_gradient_behind(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = pickle.loads(pickle.dumps(x))
    return locals()


@program
def a_pickled_result(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    error = attempt(lambda: pickle.dumps(y))
    return locals()


@program
def a_pickled_view_loses_its_base(T):
    base = T.arange(4.0)
    v = pickle.loads(pickle.dumps(base[1:]))
    return locals()


@program
def a_pickled_parameter_comes_back(T):
    p = T.nn.Parameter(T.ones(2))
    q = pickle.loads(pickle.dumps(p))
    is_parameter = isinstance(q, T.nn.Parameter)
    return locals()


@program
def a_pickled_0d_and_empty_tensor(T):
    x, y = T.tensor(5.0), T.zeros(0, 3)
    x2, y2 = pickle.loads(pickle.dumps([x, y]))
    return locals()


@program
def clone_is_recorded_and_a_deepcopy_is_not(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a, b = x.clone(), copy.deepcopy(x)
    (a * b).sum().backward()
    return locals()


@program
def clone_of_a_constant_is_a_leaf(T):
    c = T.ones(2)
    d = c.clone()
    return locals()


@program
def a_graph_dies_with_its_last_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y.exp()
    alive = weakref.ref(y)
    gc.disable()
    del y, z
    gc.enable()
    gone = alive() is None
    return locals()


@program
def a_result_that_was_saved_does_not_keep_its_tensor(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    alive = weakref.ref(y)
    z = y * y
    gc.disable()
    del y
    gc.enable()
    gone = alive() is None
    z.sum().backward()
    return locals()


@program
def a_written_tensor_leaves_no_cycle(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    v.mul_(y[:1])
    alive = weakref.ref(y)
    gc.disable()
    del y, v
    gc.enable()
    gone = alive() is None
    return locals()


@program
def a_base_lives_as_long_as_its_view(T):
    x = T.tensor([1.0, 2.0])
    v = x[1:]
    alive = weakref.ref(x)
    del x
    gone = alive() is None
    return locals()


@program
def a_leaf_lives_as_long_as_its_graph(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    alive = weakref.ref(x)
    del x
    y.backward()
    kept = y.grad_fn is not None
    return locals()


@program
def equal_tensors_have_different_hashes(T):
    x, y = T.ones(2), T.ones(2)
    in_set = [x in {x, y}, len({x, y, x})]
    by_identity = [t is x for t in (x, y)]
    return locals()
