"""StackDataset and ConcatDataset; samplers with weights and for several processes; collate maps."""

import importlib
from collections import Counter
from fractions import Fraction

import pytest

import tinynet as tn
import tinynet.data
from tinynet.data import (
    ConcatDataset,
    DataLoader,
    DistributedSampler,
    StackDataset,
    TensorDataset,
    WeightedRandomSampler,
)
from tinynet.data.dataset import Samples
from tinynet.data.loading.collate import collate, default_collate_fn_map

LIBRARIES = [
    pytest.param("tinynet", id="tinynet"),
    pytest.param("torch", id="pytorch", marks=pytest.mark.oracle),
]


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


class AtOnce:
    """Has __getitems__ and notes what it is asked for."""

    def __init__(self, letters):
        self.letters, self.asked = letters, []

    def __len__(self):
        return len(self.letters)

    def __getitem__(self, index):
        return self.letters[index]

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [self.letters[index] for index in indices]


@pytest.fixture(params=LIBRARIES)
def lib(request):
    return importlib.import_module(f"{request.param}.utils.data")


# ---- side by side: the same in both libraries ----


def test_stack(lib):
    stacked = lib.StackDataset(["a", "b", "c"], AtOnce("xyz"))
    assert len(stacked) == 3
    assert stacked[1] == ("b", "y")
    assert stacked.__getitems__([2, 0]) == [("c", "z"), ("a", "x")]
    assert list(lib.DataLoader(stacked, 2)) == [[("a", "b"), ("x", "y")], [("c",), ("z",)]]


def test_stack_by_name(lib):
    letters = AtOnce("xyz")
    stacked = lib.StackDataset(number=[1, 2, 3], letter=letters)
    assert len(stacked) == 3
    assert stacked[-1] == {"number": 3, "letter": "z"}
    assert stacked.__getitems__([2, 0]) == [
        {"number": 3, "letter": "z"},
        {"number": 1, "letter": "x"},
    ]
    assert letters.asked == [[2, 0]]
    assert plain(next(iter(lib.DataLoader(stacked, 2)))) == {"number": [1, 2], "letter": ["x", "y"]}


def test_concat(lib):
    whole = lib.ConcatDataset(["abc", "", "de"])
    assert len(whole) == 5
    assert whole.cumulative_sizes == lib.ConcatDataset.cumsum(["abc", "", "de"]) == [3, 3, 5]
    assert [whole[i] for i in range(-5, 5)] == list("abcdeabcde")
    assert list(lib.DataLoader(whole, 2)) == [["a", "b"], ["c", "d"], ["e"]]
    with pytest.warns(FutureWarning, match="^`cummulative_sizes` attribute is renamed"):
        assert whole.cummulative_sizes == [3, 3, 5]


def test_sum_of_datasets(lib):
    class Letters(lib.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return "ab"[index]

    both = Letters() + Letters()
    assert isinstance(both, lib.ConcatDataset)
    assert [both[i] for i in range(4)] == list("abab")


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7])
def test_shares_of_processes_in_order(lib, n, drop_last):
    if n == 0 and lib is not tinynet.utils.data and not drop_last:
        pytest.skip("PyTorch divides by zero where tinynet gives nothing")
    shares = [
        lib.DistributedSampler(range(n), 3, rank, shuffle=False, drop_last=drop_last)
        for rank in range(3)
    ]
    size = n // 3 if drop_last else -(-n // 3)
    padded = (list(range(n)) * 3)[: 3 * size]
    assert [list(share) for share in shares] == [padded[rank::3] for rank in range(3)]
    assert [len(share) for share in shares] == [size] * 3
    assert [share.total_size for share in shares] == [size * 3] * 3


# ---- at once, where that is possible ----


def test_concat_asks_at_once():
    first, second = AtOnce("abc"), AtOnce("de")
    whole = ConcatDataset([first, second, ["f"]])
    assert whole.__getitems__([4, 0, -1, 2, 4]) == ["e", "a", "f", "c", "e"]
    assert (first.asked, second.asked) == ([[0, 2]], [[1, 1]])


def test_concat_of_tensors_is_gathered():
    rows = [TensorDataset(tn.arange(3) + 10 * i) for i in range(2)]
    assert isinstance(ConcatDataset(rows).__getitems__([3, 5]), Samples)
    (batch,) = next(iter(DataLoader(ConcatDataset(rows), 6)))
    assert batch.tolist() == [0, 1, 2, 10, 11, 12]


@pytest.mark.parametrize("kind", [StackDataset, lambda dataset: ConcatDataset([dataset])])
def test_a_subclass_that_changes_samples_is_asked_for_each(kind):
    base = type(kind(AtOnce("ab")))

    class Doubled(base):
        def __getitem__(self, index):
            return str(super().__getitem__(index)) * 2

    doubled = Doubled(AtOnce("ab")) if base is StackDataset else Doubled([AtOnce("ab")])
    assert doubled.__getitems__([0, 1]) == [doubled[0], doubled[1]]


def test_what_is_inside_of_a_stack_may_be_a_dataset_of_tensors():
    data = StackDataset(x=TensorDataset(tn.arange(4)), y=TensorDataset(tn.arange(4) * 2))
    (batch,) = DataLoader(data, 4)
    assert plain(batch) == {"x": [[0, 1, 2, 3]], "y": [[0, 2, 4, 6]]}


# ---- samplers that draw ----


def test_weights_decide_how_often():
    sampler = WeightedRandomSampler([0, 1, 3, 0, 4], 40_000, generator=seeded())
    drawn = Counter(sampler)
    assert len(sampler) == sum(drawn.values()) == 40_000
    assert set(drawn) == {1, 2, 4}
    for index, expected in ((1, 5_000), (2, 15_000), (4, 20_000)):
        assert abs(drawn[index] - expected) < 5 * expected**0.5


def test_weights_without_replacement():
    sampler = WeightedRandomSampler(tn.tensor([1.0, 9.0, 0.0]), 2, False, generator=seeded())
    drawn = Counter(tuple(sampler) for _ in range(2000))
    assert set(drawn) == {(0, 1), (1, 0)}
    assert 1700 < drawn[1, 0] < 1900
    assert {type(index) for index in sampler} == {int}


def test_weights_draw_anew_in_each_pass_and_the_seed_repeats_them():
    def passes():
        sampler = WeightedRandomSampler([1.0] * 50, 50, generator=seeded(3))
        return [list(sampler) for _ in range(2)]

    assert passes() == passes()
    assert passes()[0] != passes()[1]


@pytest.mark.parametrize("n", [7, 100])
def test_shares_of_processes_are_drawn_together(n):
    shares = [DistributedSampler(range(n), 4, rank, seed=5) for rank in range(4)]
    first = [list(share) for share in shares]
    assert set(sum(first, [])) == set(range(n))
    assert sum(map(len, first)) == -(-n // 4) * 4
    assert [list(share) for share in shares] == first
    for share in shares:
        share.set_epoch(1)
    second = [list(share) for share in shares]
    assert second != first
    assert set(sum(second, [])) == set(range(n))
    assert list(DistributedSampler(range(n), 4, 0, seed=6)) != first[0] or n == 7


# ---- collate functions of one's own ----


class Point:
    def __init__(self, x):
        self.x = x


class Special(Point):
    pass


def of_points(batch, *, collate_fn_map=None):
    return "points", [point.x for point in batch]


def test_an_entry_of_the_default_map(monkeypatch):
    monkeypatch.setitem(default_collate_fn_map, Point, of_points)
    batch = tinynet.data.default_collate([{"p": Point(1), "n": 1}, {"p": Special(2), "n": 2}])
    assert plain(batch) == {"p": ["points", [1, 2]], "n": [1, 2]}


def test_the_exact_type_goes_before_the_first_that_fits():
    fn_map = {Point: of_points, Special: lambda batch, *, collate_fn_map: "special"}
    assert collate([Special(1)], collate_fn_map=fn_map) == "special"
    assert collate([(Point(1), Special(2))], collate_fn_map=fn_map) == [("points", [1]), "special"]


def test_an_entry_may_go_on_with_the_map():
    def of_fractions(batch, *, collate_fn_map):
        parts = [(f.numerator, f.denominator) for f in batch]
        return collate(parts, collate_fn_map=collate_fn_map)

    fn_map = {Fraction: of_fractions, (int, float): lambda batch, *, collate_fn_map: sum(batch)}
    assert collate([Fraction(1, 2), Fraction(3, 4)], collate_fn_map=fn_map) == [4, 6]


def test_without_a_map_only_structures_are_known():
    with pytest.raises(TypeError, match=r"^default_collate: batch must contain tensors"):
        collate([1])


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [
        "BatchSampler", "ChainDataset", "ConcatDataset", "DistributedSampler", "RandomSampler",
        "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
        "WeightedRandomSampler", "random_split",
    ],
)  # fmt: skip
def test_signatures_are_pytorchs(name):
    inspect = importlib.import_module("inspect")
    lib = importlib.import_module("torch.utils.data")
    ours, theirs = (inspect.signature(getattr(d, name)) for d in (tinynet.data, lib))
    assert list(ours.parameters) == list(theirs.parameters)
    for key, parameter in ours.parameters.items():
        assert parameter.kind == theirs.parameters[key].kind
        default = theirs.parameters[key].default
        assert parameter.default == (default if "Generator" not in str(default) else None)


@pytest.mark.oracle
def test_nothing_public_is_missing():
    lib = importlib.import_module("torch.utils.data")
    data_pipes = {  # PyTorch's own, removed from its documentation
        "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation",
        "functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic",
        "runtime_validation", "runtime_validation_disabled",
    }  # fmt: skip
    missing = {name for name in lib.__all__ if not name.startswith("_")} - set(dir(tinynet.data))
    assert missing == data_pipes
