"""What a recorder knows about arrays while they live."""

import numpy as np

from tinynet.capture.record.alive import Memories, WhileAlive


def test_arrays_are_forgotten_when_they_die_and_other_objects_live_on():
    known, array, thing = WhileAlive(), np.zeros(3), [1]
    known[array], known[thing] = "array", "thing"
    assert array in known and known.get(array) == "array" and known.get(thing) == "thing"
    place, where = id(array), id(thing)
    del array, thing
    assert place not in known._found and where in known._found


def test_an_array_that_gets_another_value_is_forgotten_once():
    known, array = WhileAlive(), np.zeros(3)
    known[array], known[array] = 1, 2
    assert known.get(array) == 2
    known.discard(array)
    assert array not in known
    known[array] = 3
    known.forget(lambda value: value > 2)
    assert array not in known and known.get(array) is None


def test_a_new_array_at_the_same_place_has_another_memory():
    memories, seen = Memories(), set()
    for _ in range(10):
        array = np.zeros(1000)
        assert memories.number_of(array) == memories.number_of(array[3:].reshape(-1, 1))
        seen.add(memories.number_of(array))
        del array
    assert len(seen) == 10
