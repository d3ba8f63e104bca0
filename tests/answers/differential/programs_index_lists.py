"""Lists as indices: of numbers, and of anything else, which PyTorch reads as a tuple."""

import numpy as np

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


def table(T):
    return T.arange(12.0).view(3, 4)


@program
def a_list_of_numbers(T):
    return {"two": table(T)[[0, 1]], "none": table(T)[[]], "pair": table(T)[[0, 1], [1, 2]]}


@program
def a_list_of_lists_is_a_tuple(T):
    x = table(T)
    return {"rows": x[[[0, 1]]], "places": x[[[0, 1], [1, 2]]], "empty": x[[[]]]}


@program
def a_list_of_tensors_is_a_tuple(T):
    x = table(T)
    return {
        "places": x[[T.tensor([0, 1]), T.tensor([1, 2])]],
        "numbers": x[[T.tensor(0), T.tensor(1)]],
        "mixed": x[[0, T.tensor(1)]],
    }


@program
def a_list_with_slices_is_a_tuple(T):
    x = table(T)
    return {
        "slice": x[[0, slice(None)]],
        "slices": x[[slice(0, 1), [0, 1]]],
        "none": x[[None, 0]],
        "dots": x[[..., 0]],
    }


@program
def a_list_of_masks_is_a_tuple(T):
    return {"rows": table(T)[[[True, False, True]]], "mask": table(T)[[True, False, True]]}


@program
def a_long_list_of_lists_is_an_index(T):
    return {"found": T.arange(80.0).view(40, 2)[[[0]] * 33]}


@program
def a_list_of_lists_is_written(T):
    x, y = T.zeros(3, 4), T.zeros(3, 4)
    x[[[0, 1], [1, 2]]] = 5
    y[[slice(0, 2), 1]] = 5
    return {"x": x, "y": y}


@program
def indices_of_small_integers(T):
    x = T.arange(3.0)
    return {
        "int32": x[T.tensor([0, 1], dtype=T.int32)],
        "int16": attempt(lambda: x[T.tensor([0, 1], dtype=T.int16)]),
        "int8": attempt(lambda: x[T.tensor([0, 1], dtype=T.int8)]),
    }


@program
def sequences_of_numbers_are_whole_indices(T):
    x = table(T)
    written = table(T)
    written[np.array([1.9, -0.9])] = -1
    indices = {
        "float64": np.array([0.0, 2.0]),
        "fractions": np.array([1.9, -0.9]),
        "int16": np.array([0, 2], np.int16),
        "uint16": np.array([0, 2], np.uint16),
        "floats": [0.0, 2.0],
        "mixed": [True, 0.0],
        "pairs": (T.tensor([0, 1]), [1.0, 2.0]),
        "columns": (slice(None), np.array([1.0, 0.0])),
        "scalar": np.array(1),
        "scalar of floats": (0, np.array(1.0)),
        "scalar mask": np.array(True),
        "empty": np.zeros((0, 2)),
    }
    return {"written": written, **{name: x[index] for name, index in indices.items()}}


@program
def truth_as_an_index_that_is_written(T):
    x = T.arange(3.0)
    x[True] = 5
    a = x.clone()
    x[False] = 7
    x[T.tensor(True)] = T.tensor([7.0, 8.0, 9.0])
    return {"a": a, "x": x, "none": x[False], "one": x[True]}


@program
def a_tuple_in_an_index_is_an_index(T):
    x = table(T)
    return {"rows": x[(0, 2),], "places": x[(0, 1), [1, 2]], "mask": x[(True, False, True),]}


@program
def a_list_for_a_dimension_of_length_0(T):
    return {"error": attempt(lambda: T.empty(10, 0)[:, [0, 1]])}


@program.fails
def a_part_of_a_tensor_cannot_be_deleted(T):
    x = T.arange(3.0)
    del x[0]


@program
def a_mask_of_bytes_warns_once(T):
    x = table(T)
    return {"rows": x[T.tensor([1, 0, 1], dtype=T.uint8)]}


@program
def index_put_with_single_places(T):
    x, one = table(T).requires_grad_(), T.tensor(1.0, requires_grad=True)
    row = x.index_put((T.tensor(1),), one)
    places = x.index_put((T.tensor(1), T.tensor([0, 2])), one, accumulate=True)
    (row + places).sum().backward()
    return {"row": row, "places": places, "d_x": x.grad, "d_one": one.grad}


@program
def index_put_refuses_what_is_no_tensor(T):
    x, one = table(T), T.tensor(1.0)
    return {
        "number": attempt(lambda: x.index_put((1,), one)),
        "list": attempt(lambda: x.index_put(([1, 2],), one)),
        "tensor": attempt(lambda: x.index_put(T.tensor([1, 2]), one)),
        "value": attempt(lambda: x.index_put((T.tensor([1]),), 1.0)),
        "many": attempt(lambda: x.index_put((T.tensor(1), T.tensor([0, 1]), T.tensor(0)), one)),
    }


@program
def unravel_index_refuses_what_is_no_whole_number(T):
    return {
        "indices": attempt(lambda: T.unravel_index(T.tensor([1.0]), (2, 2))),
        "shape": attempt(lambda: T.unravel_index(T.tensor([1]), (2.0, 2))),
        "negative": attempt(lambda: T.unravel_index(T.tensor([1]), (-2, 2))),
    }
