"""Grad modes as decorators, and what they refuse."""

import pytest

import tinynet as tn


def test_a_mode_is_switched_by_a_bool_only():
    with pytest.raises(TypeError, match="must be bool, not int$"):
        tn.set_grad_enabled(1)
    assert tn.is_grad_enabled()


def test_a_decorated_function_keeps_its_name_and_can_recurse():
    @tn.no_grad()
    def down(n):
        """Count down."""
        return [tn.is_grad_enabled(), *(down(n - 1) if n else [])]

    assert (down.__name__, down.__doc__) == ("down", "Count down.")
    assert down(2) == [False] * 3 and tn.is_grad_enabled()


def test_enable_grad_decorates_with_and_without_parentheses():
    with tn.no_grad():
        assert tn.enable_grad()(tn.is_grad_enabled)() and tn.enable_grad(tn.is_grad_enabled)()
        assert not tn.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_leaves_the_mode_alone():
    decorate = tn.set_grad_enabled(False)
    assert not tn.is_grad_enabled()
    off = decorate(tn.is_grad_enabled)
    assert tn.is_grad_enabled() and not off() and tn.is_grad_enabled()


def test_one_mode_object_can_be_entered_twice():
    mode = tn.no_grad()
    with mode:
        with mode:
            assert not tn.is_grad_enabled()
        assert not tn.is_grad_enabled()
    assert tn.is_grad_enabled()
    with tn.set_grad_enabled(False) as nothing:
        assert nothing is None and not tn.is_grad_enabled()
    assert tn.is_grad_enabled()


def test_a_generator_gets_errors_values_and_its_end():
    found = []

    @tn.no_grad()
    def generator():
        try:
            yield 1
        except KeyError:
            found.append(("caught", tn.is_grad_enabled()))
        try:
            found.append((yield 2))
            yield 3
        finally:
            found.append(("closed", tn.is_grad_enabled()))
        return "the end"

    running = generator()
    assert next(running) == 1 and running.throw(KeyError()) == 2
    assert running.send("sent") == 3 and tn.is_grad_enabled()
    running.close()
    assert found == [("caught", False), "sent", ("closed", False)] and tn.is_grad_enabled()

    def whole():
        return (yield from generator())

    items = whole()
    assert [next(items), next(items), next(items)] == [1, 2, 3]
    with pytest.raises(StopIteration) as stop:
        next(items)
    assert stop.value.value == "the end"
