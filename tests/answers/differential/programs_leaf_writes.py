"""Indexed assignment to a leaf as tinynet has it by default: recorded, and refused in backward.

PyTorch refuses at once; what tinynet shows instead, following the seeds, is in departures.py.
"""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def an_assignment_makes_the_leaf_a_result(T):
    x = T.tensor([10.0, 5.0], requires_grad=True)
    error = attempt(lambda: x.__setitem__(slice(None), 0))
    return locals()


@program
def the_backward_that_meets_the_moved_leaf_is_refused(T):
    x = T.tensor([10.0, 5.0], requires_grad=True)
    attempt(lambda: x.__setitem__(0, 0))
    error = attempt(lambda: (x * x).sum().backward())
    return {"error": error}


@program
def a_use_before_the_assignment_is_refused_in_backward_too(T):
    x = T.tensor([10.0, 5.0], requires_grad=True)
    y = (x * 2).sum()
    attempt(lambda: x.__setitem__(0, 0))
    error = attempt(y.backward)
    return {"error": error}


@program
def a_moved_leaf_can_be_written_further(T):
    x = T.tensor([10.0, 5.0], requires_grad=True)
    attempt(lambda: x.__setitem__(slice(None), 0))
    error = attempt(lambda: x.add_(1))
    return locals()


@program
def an_augmented_assignment_to_a_part_of_a_leaf_is_refused(T):
    x = T.tensor([10.0, 5.0], requires_grad=True)

    def augment():
        x[0] += 1

    error = attempt(augment)
    return locals()
