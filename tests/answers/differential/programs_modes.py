"""Grad modes: no_grad, enable_grad, set_grad_enabled; nested, as decorators, in threads."""

import threading

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def no_grad_stops_recording(T):
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        y = x * 2
        inside = T.is_grad_enabled()
    outside = T.is_grad_enabled()
    return locals()


@program
def enable_grad_inside_no_grad(T):
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        with T.enable_grad():
            y = x * 2
        z = y * 2
    y.sum().backward()
    return locals()


@program
def set_grad_enabled_as_a_context(T):
    x = T.ones(2, requires_grad=True)
    with T.set_grad_enabled(False):
        y = x * 2
        with T.set_grad_enabled(True):
            z = x * 2
    w = x * 2
    return locals()


@program
def set_grad_enabled_as_a_call(T):
    x = T.ones(2, requires_grad=True)
    T.set_grad_enabled(False)
    y = x * 2
    T.set_grad_enabled(True)
    z = x * 2
    return locals()


@program
def set_grad_enabled_wants_a_bool(T):
    error = attempt(lambda: T.set_grad_enabled("off"))
    recording = T.is_grad_enabled()
    return locals()


@program
def a_leaf_may_be_made_under_no_grad(T):
    with T.no_grad():
        x = T.ones(2, requires_grad=True)
        y = T.ones(2).requires_grad_()
    (x * y).sum().backward()
    return locals()


@program
def switching_on_under_no_grad_works(T):
    x = T.ones(2)
    with T.no_grad():
        y = x * 2
        y.requires_grad_()
    (y * y).sum().backward()
    return locals()


@program
def backward_under_no_grad(T):
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    with T.no_grad():
        y.backward()
    return locals()


@program
def autograd_grad_under_no_grad_with_create_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x**3
    with T.no_grad():
        (d_1,) = T.autograd.grad(y, x, create_graph=True)
    (d_2,) = T.autograd.grad(d_1, x)
    return locals()


@program
def backward_of_something_made_under_no_grad_is_refused(T):
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        y = (x * x).sum()
    error = attempt(y.backward)
    return locals()


@program
def the_mode_is_restored_after_an_error(T):
    def fail():
        with T.no_grad():
            raise ValueError("stop")

    error = attempt(fail)
    recording = T.is_grad_enabled()
    return locals()


@program
def one_context_object_entered_twice(T):
    mode = T.no_grad()
    states = []
    with mode:
        states.append(T.is_grad_enabled())
        with mode:
            states.append(T.is_grad_enabled())
        states.append(T.is_grad_enabled())
    states.append(T.is_grad_enabled())
    return locals()


@program
def one_context_object_used_one_after_the_other(T):
    mode = T.enable_grad()
    states = []
    with mode:
        states.append(T.is_grad_enabled())
    with T.no_grad():
        with mode:
            states.append(T.is_grad_enabled())
        states.append(T.is_grad_enabled())
    return locals()


@program
def a_context_that_was_only_made_changes_nothing(T):
    mode = T.no_grad()
    recording = T.is_grad_enabled()
    return locals()


@program
def what_a_context_gives_to_as(T):
    with T.no_grad() as nothing, T.set_grad_enabled(True) as neither:
        recording = T.is_grad_enabled()
    return locals()


@program
def a_decorated_function_does_not_record(T):
    @T.no_grad()
    def double(x):
        return x * 2, T.is_grad_enabled()

    x = T.ones(2, requires_grad=True)
    y, inside = double(x)
    name = double.__name__
    outside = T.is_grad_enabled()
    return locals()


@program
def a_decorator_without_parentheses(T):
    @T.no_grad
    def double(x):
        return x * 2

    @T.enable_grad
    def triple(x):
        return x * 3

    x = T.ones(2, requires_grad=True)
    y = double(x)
    with T.no_grad():
        z = triple(x)
    return locals()


@program
def set_grad_enabled_as_a_decorator(T):
    @T.set_grad_enabled(False)
    def double(x):
        return x * 2

    x = T.ones(2, requires_grad=True)
    recording = T.is_grad_enabled()
    y = double(x)
    return locals()


@program
def a_decorated_method(T):
    class Doubler:
        @T.no_grad()
        def double(self, x):
            return x * 2

    x = T.ones(2, requires_grad=True)
    y = Doubler().double(x)
    return locals()


@program
def a_decorated_function_that_raises(T):
    @T.no_grad()
    def fail():
        raise ValueError("stop")

    error = attempt(fail)
    recording = T.is_grad_enabled()
    return locals()


@program
def a_decorated_recursion(T):
    states = []

    @T.no_grad()
    def descend(depth):
        states.append(T.is_grad_enabled())
        if depth:
            with T.enable_grad():
                descend(depth - 1)
                states.append(T.is_grad_enabled())

    descend(2)
    states.append(T.is_grad_enabled())
    return locals()


@program
def a_decorated_generator_keeps_its_mode_to_itself(T):
    states = []

    @T.no_grad()
    def walk():
        for _ in range(2):
            states.append(["inside", T.is_grad_enabled()])
            yield 1

    for _ in walk():
        states.append(["outside", T.is_grad_enabled()])
    return locals()


@program
def a_generator_with_a_context_inside_leaks_its_mode(T):
    def walk():
        with T.no_grad():
            yield 1

    walker = walk()
    states = [T.is_grad_enabled()]
    next(walker)
    states.append(T.is_grad_enabled())
    walker.close()
    states.append(T.is_grad_enabled())
    return locals()


@program
def a_decorated_generator_can_be_sent_to_and_returns(T):
    @T.no_grad()
    def echo():
        got = yield 0
        states.append([got, T.is_grad_enabled()])
        return "done"

    states = []
    walker = echo()
    next(walker)
    try:
        walker.send(5)
    except StopIteration as stop:
        states.append(stop.value)
    return locals()


@program
def a_decorated_generator_that_is_thrown_into(T):
    @T.no_grad()
    def walk():
        try:
            yield 0
        except ValueError:
            states.append(T.is_grad_enabled())
            yield 1

    states = []
    walker = walk()
    next(walker)
    states.append(walker.throw(ValueError("now")))
    states.append(T.is_grad_enabled())
    return locals()


@program
def a_decorated_class_is_refused_or_warned_of(T):
    def decorate():
        @T.no_grad()
        class Thing:
            pass

    error = attempt(decorate)
    return locals()


@program
def another_thread_records_by_default(T):
    states = []
    with T.no_grad():
        thread = threading.Thread(target=lambda: states.append(T.is_grad_enabled()))
        thread.start()
        thread.join()
        states.append(T.is_grad_enabled())
    return locals()


@program
def a_mode_set_in_another_thread_stays_there(T):
    thread = threading.Thread(target=lambda: T.set_grad_enabled(False))
    thread.start()
    thread.join()
    recording = T.is_grad_enabled()
    return locals()


@program
def backward_in_another_thread(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    return locals()


@program
def two_threads_add_to_one_gradient(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        thread = threading.Thread(target=lambda: (x * x).sum().backward())
        thread.start()
        thread.join()
    return locals()


@program
def a_hook_runs_in_the_mode_of_the_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    states = []
    x.register_hook(lambda g: states.append(T.is_grad_enabled()))
    y = x * 3
    y.backward(retain_graph=True)
    with T.no_grad():
        y.backward(retain_graph=True)
        T.autograd.grad(y, x, create_graph=True)
    return locals()


@program
def an_in_place_update_under_no_grad_is_not_recorded(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    with T.no_grad():
        w -= 0.5 * w.grad
        w.grad.zero_()
    (w * w).sum().backward()
    return locals()


@program
def rebinding_under_no_grad_loses_the_leaf(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        w = w - 0.5
    error = attempt(lambda: (w * w).sum().backward())
    return locals()
