"""Where tinynet shows something else than PyTorch on purpose, each with its reason."""

import numpy as np

from tests.tools.recorded.departures import Instead, Unsaid


def a_tensor_of_its_own(place: str, values: np.ndarray, memory: str) -> dict[str, object]:
    return {
        f"{place}.is": None,
        f"{place}.tensor": values,
        f"{place}.memory_of": memory,
    }


RETURNED = "What a transformed function returns as it came is a new tensor over the same memory."
PAIR, TABLE = np.array([1.0, 2.0]), np.arange(6.0).reshape(3, 2)

DEPARTURES = (
    Unsaid(
        "LSTM has no other implementation to fall back from.",
        "UserWarning: LSTM with projections is not supported with oneDNN",
    ),
    Instead(
        "PyTorch misspells the class in this text.",
        "containers/parameter_dicts",
        {
            "sees.texts.3.says": "ParameterDict.update should be called with an iterable of "
            "key/value pairs, but got int"
        },
    ),
    Instead(
        RETURNED,
        "transforms/gradients_and_values",
        a_tensor_of_its_own("sees.x", PAIR, "all_three[1][1]"),
    ),
    Instead(
        RETURNED,
        "transforms/products_from_the_left",
        a_tensor_of_its_own("sees.x", PAIR, "aux[a]"),
    ),
    Instead(
        RETURNED,
        "transforms/jacobians_both_ways",
        a_tensor_of_its_own("sees.x", PAIR, "aux[0][1]"),
    ),
    Instead(
        RETURNED,
        "vmap/where_results_are_stacked",
        {
            **a_tensor_of_its_own("sees.tree.t.0", TABLE, "number[0]"),
            **a_tensor_of_its_own("sees.tree.t.1", TABLE, "number[0]"),
            **a_tensor_of_its_own("sees.x", TABLE, "number[0]"),
        },
    ),
)
