"""Assignment by index: of every kind of index and value, to results, views, constants, leaves."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)

INDICES = {
    "a_number": lambda T: 1,
    "a_negative_number": lambda T: -1,
    "two_numbers": lambda T: (1, 0),
    "a_slice": lambda T: slice(1, None),
    "a_slice_with_a_step": lambda T: slice(None, None, 2),
    "an_empty_slice": lambda T: slice(3, None),
    "all": lambda T: slice(None),
    "dots": lambda T: ...,
    "dots_and_a_number": lambda T: (..., 1),
    "none": lambda T: None,
    "a_list": lambda T: [0, 2],
    "a_list_with_a_repeated_number": lambda T: [1, 1],
    "a_tensor_of_numbers": lambda T: T.tensor([2, 0]),
    "a_0d_tensor": lambda T: T.tensor(1),
    "two_tensors": lambda T: (T.tensor([0, 1]), T.tensor([1, 1])),
    "a_slice_and_a_list": lambda T: (slice(1, None), [1]),
    "a_mask": lambda T: T.tensor([[True, False], [False, True], [True, True]]),
    "a_mask_of_rows": lambda T: T.tensor([True, False, True]),
    "a_mask_of_nothing": lambda T: T.zeros(3, 2) > 0,
}


def assign_number(index):
    def written(T):
        x = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        y = x * 1
        y[index(T)] = 10.0
        (y * y).sum().backward()
        return locals()

    return written


def assign_tensor(index):
    def written(T):
        x = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        w = T.tensor(7.0, requires_grad=True)
        y = x * 1
        y[index(T)] = w * 2
        (y * y).sum().backward()
        return locals()

    return written


def assign_into_constant(index):
    def written(T):
        w = T.tensor(7.0, requires_grad=True)
        y = T.ones(3, 2)
        y[index(T)] = w
        (y * y).sum().backward()
        return locals()

    return written


for _name, _index in INDICES.items():
    program.add(f"a_number_by_{_name}", assign_number(_index))
    program.add(f"a_tensor_with_grad_by_{_name}", assign_tensor(_index))
    program.add(f"into_a_constant_by_{_name}", assign_into_constant(_index))


@program
def a_row_gets_a_row(T):
    y = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1
    w = T.tensor([5.0, 6.0], requires_grad=True)
    y[0] = w
    (y * y).sum().backward()
    return locals()


@program
def a_part_gets_another_part_of_the_same_tensor(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[0] = y[1]
    y[1] = y[2] * 2
    (y * T.tensor([1.0, 10.0, 100.0])).sum().backward()
    return locals()


@program
def a_part_gets_a_product_of_other_parts(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[0] = y[1] * y[2]
    error = attempt(lambda: y.sum().backward())
    return locals()


@program
def an_augmented_assignment_by_index(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[1:] *= 3
    y[0] += 5
    y.sum().backward()
    return locals()


@program
def an_augmented_assignment_by_list(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[[0, 2]] *= 3
    y.sum().backward()
    return locals()


@program
def an_augmented_assignment_by_mask(T):
    x = T.tensor([1.0, -2.0, 3.0], requires_grad=True)
    y = x * 1
    y[y < 0] *= 10
    y.sum().backward()
    return locals()


@program
def an_assignment_to_a_view(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v[0] = 10.0
    (y * y).sum().backward()
    return locals()


@program
def an_assignment_to_a_view_by_mask(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    v = y[1:]
    v[v > 2] = 10.0
    (y * y).sum().backward()
    return locals()


@program
def an_assignment_through_two_indices(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    y[1][0] = 10.0
    (y * y).sum().backward()
    return locals()


@program
def an_assignment_through_a_list_writes_a_copy(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[[0, 1]][0] = 10.0
    (y * y).sum().backward()
    return locals()


@program
def an_assignment_to_a_saved_tensor(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    z = y * y
    y[0] = 10.0
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def an_assignment_of_a_saved_tensor_as_value(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    y = T.zeros(2)
    y[0] = w[1] * w[1]
    y.sum().backward()
    return locals()


@program
def an_assignment_of_another_dtype(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor(3.0, dtype=T.float64, requires_grad=True)
    y = x * 1
    y[0] = w
    y.sum().backward()
    return locals()


@program
def an_assignment_of_a_tensor_into_integers(T):
    y = T.tensor([1, 2])
    w = T.tensor(3.7, requires_grad=True)
    y[0] = w
    return locals()


@program
def an_assignment_of_an_array_and_of_a_bool(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    y[0] = T.tensor([True, False])
    y[1, 1] = True
    y.sum().backward()
    return locals()


@program
def assignments_in_a_loop(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = T.zeros(3)
    for i in range(3):
        y[i] = x[i] * (i + 1)
    y.sum().backward()
    return locals()


@program
def a_recurrence_in_a_loop(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = T.zeros(3)
    y[0] = x[0]
    for i in range(1, 3):
        y[i] = y[i - 1] * 2 + x[i]
    y.sum().backward()
    return locals()


@program
def a_recurrence_that_multiplies_needs_old_versions(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = T.ones(3)
    for i in range(1, 3):
        y[i] = y[i - 1] * x[i]
    error = attempt(lambda: y.sum().backward())
    return locals()


@program.strict
def an_assignment_to_a_leaf_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    errors = [attempt(lambda i=i: x.__setitem__(i, 5.0)) for i in (0, slice(None), [0, 1], ...)]
    return locals()


@program.strict
def an_assignment_to_a_leaf_by_mask_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: x.__setitem__(x > 1, 5.0))
    return locals()


@program.strict
def an_assignment_of_nothing_to_a_leaf_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: x.__setitem__(slice(2, None), 5.0))
    return locals()


@program
def an_assignment_to_a_view_of_a_leaf_is_refused(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    v = x[:1]
    error = attempt(lambda: v.__setitem__(0, 5.0))
    return locals()


@program
def an_assignment_to_a_leaf_under_no_grad(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        x[0] = 5.0
        x[T.tensor([False, True])] = 7.0
    (x * x).sum().backward()
    return locals()


@program
def an_assignment_to_one_of_several_views_is_refused(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    a, b = y.split(1)
    error = attempt(lambda: a.__setitem__(0, 5.0))
    return locals()


@program
def an_assignment_to_an_expanded_tensor(T):
    y = T.tensor([1.0, 2.0]).expand(2, 2)
    error_of_many = attempt(lambda: y.__setitem__(slice(None), T.ones(2, 2)))
    y[0] = T.tensor([5.0, 6.0])
    return locals()


@program.fails
def an_assignment_of_a_wrong_shape_is_refused(T):
    y = T.zeros(3, 2)
    y[0] = T.ones(3)


@program.fails
def an_assignment_beyond_the_end_is_refused(T):
    y = T.zeros(3, 2)
    y[3] = 1.0


@program
def tensors_of_another_dtype(T):
    def written(index, value):
        x = T.zeros(3, 2)
        x[index] = value
        return x

    rows, mask = T.tensor([0, 2]), T.tensor([True, False, True])
    return {
        "slice": written(slice(0, 2), T.tensor([1, 2])),
        "indices": attempt(lambda: written(rows, T.tensor([1, 2]))),
        "one": attempt(lambda: written(rows, T.tensor(1))),
        "mask": attempt(lambda: written(mask, T.tensor([1, 2]))),
        "one_by_mask": written(mask, T.tensor(1)),
        "number": written(rows, 1),
        "put": attempt(lambda: T.zeros(3).index_put_((rows,), T.tensor([1, 2]))),
    }
