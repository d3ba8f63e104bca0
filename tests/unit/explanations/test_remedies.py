"""Common mistakes: PyTorch's first sentence, and a line that says what to do."""

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.data import DataLoader
from tinynet.errors import FIX
from tinynet.nn import functional as F
from tinynet.optim import lr_scheduler

X = tn.ones(4, 3)
FLOATS, INTS = tn.tensor([0.0, 1.0, 2.0, 0.0]), tn.tensor([0, 1, 2, 0], dtype=tn.int32)
ONES = tn.tensor([0, 1, 1, 0])
NET = nn.Linear(3, 3)


class InList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 3), nn.Linear(3, 3)]


class InDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(3, 3)}


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = (nn.Parameter(tn.ones(3)),)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = InList()


class Bare(nn.Module):
    pass


class NoSuper(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(3, 3)


class NoSuperEither(nn.Module):
    def __init__(self):
        self.width = 3


def batch_of(*samples):
    return next(iter(DataLoader([*samples], batch_size=len(samples))))


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"
PARAMETERS = [*NET.parameters()]
NAMES = {**globals(), "F": F, "np": np, "optim": optim}  # of the calls in the table
CLASSES = [InList, InDict, Weights, Nested, Bare, NoSuper, NoSuperEither]
# Calls that PyTorch answers otherwise, or whose sentence has the paths of its modules.
OTHERWISE = ("cuda", "dtype=", "np.ones(2)]", "momentum", "nn.ReLU", "nn.Tanh", "F.relu")
COMPARED = "'<=' not supported between instances of 'float' and 'str'"


def mistakes():
    """Call -> (error, first sentence, a part of the remedy), from the table."""
    rows = Path(__file__).with_name("mistakes.txt").read_text(encoding="utf-8").split("\n\n")
    for row in rows:
        if not row.startswith("#"):
            call, error, fix = (line.strip() for line in row.strip().splitlines())
            yield call, (*error.split(": ", 1), fix.removeprefix("fix: "))


MISTAKES = dict(mistakes())


def check(error, sentence, remedy):
    first, *rest = str(error).splitlines()
    assert first == sentence
    fixes = [line for line in rest if line.startswith(FIX)]
    assert len(fixes) == 1 and rest[-1] == fixes[0], "the remedy is the last line"
    assert remedy in fixes[0]


@pytest.mark.parametrize("call", MISTAKES)
def test_a_mistake_has_a_remedy(call):
    kind, sentence, remedy = MISTAKES[call]
    with pytest.raises(Exception) as raised:
        eval(call, NAMES)
    assert raised.typename == kind
    check(raised.value, sentence, remedy)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "call", [call for call in MISTAKES if not any(o in call for o in OTHERWISE)]
)
def test_the_first_sentence_is_pytorchs(call):
    torch = pytest.importorskip("torch")
    names = {"np": np, "tn": torch, "nn": torch.nn, "optim": torch.optim, "F": torch.nn.functional}
    names["DataLoader"] = torch.utils.data.DataLoader
    parts = inspect.getsource(batch_of), *map(inspect.getsource, CLASSES)
    exec("\n\n".join(parts), names)
    for name in ("X", "FLOATS", "INTS", "ONES"):
        names[name] = torch.from_numpy(NAMES[name].numpy())
    names["NET"] = torch.nn.Linear(3, 3)
    names["PARAMETERS"] = [*names["NET"].parameters()]
    with pytest.raises(Exception) as raised:
        eval(call, names)
    kind, sentence, _ = MISTAKES[call]
    assert raised.typename == kind
    assert str(raised.value).splitlines()[0].replace("torch", "tinynet") == sentence


OPTIMIZERS = {name for name in optim.__all__ if name[0].isupper()} - {"Optimizer"}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_every_optimizer_refuses_a_learning_rate_that_is_text(name):
    with pytest.raises(TypeError) as raised:
        getattr(optim, name)([nn.Parameter(tn.ones(2, 2))], lr="1e-3")
    check(raised.value, COMPARED, "`lr=1e-3`")


P = nn.Parameter(tn.ones(2))
# call, the argument that was meant
MEANT = {
    "Linear": (lambda: nn.Linear(in_feature=3, out_features=3), "in_features"),
    "Conv2d": (lambda: nn.Conv2d(3, 3, kernel=3), "kernel_size"),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3, epsilon=1e-3), "eps"),
    "LSTM": (lambda: nn.LSTM(3, 3, num_layer=2), "num_layers"),
    "Dropout": (lambda: nn.Dropout(rate=0.5), "p"),
    "ReLU": (lambda: nn.ReLU(inplce=True), "inplace"),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(label_smooth=0.1), "label_smoothing"),
    "SGD": (lambda: optim.SGD([P], learning_rate=0.1), "lr"),
    "Adam": (lambda: optim.Adam([P], beta=(0.9, 0.99)), "betas"),
    "StepLR": (lambda: lr_scheduler.StepLR(optim.SGD([P]), step=3), "step_size"),
    "DataLoader": (lambda: DataLoader([1], batchsize=3), "batch_size"),
}


@pytest.mark.parametrize("name", MEANT)
def test_an_unknown_argument_is_answered_with_the_one_that_was_meant(name):
    call, meant = MEANT[name]
    with pytest.raises(TypeError) as raised:
        call()
    first, fix = str(raised.value).splitlines()
    assert re.fullmatch(rf"{name}\.__init__\(\) got an unexpected keyword argument '\w+'", first)
    assert fix == f"{FIX}did you mean {meant!r}?"


def test_an_argument_that_resembles_none_has_pythons_sentence():
    with pytest.raises(TypeError) as raised:
        nn.Linear(3, 3, qqq=1)
    assert str(raised.value) == "Linear.__init__() got an unexpected keyword argument 'qqq'"


def test_a_class_without_a_constructor_shows_that_it_takes_no_arguments():
    class Sized(tn.data.Dataset):
        def __init__(self, size):
            """Has its own signature."""

    class Made(tn.data.Dataset):
        def __new__(cls, name):
            return super().__new__(cls)

    shown = [str(inspect.signature(c)) for c in (tn.data.Dataset, tn.data.transforms.RGB)]
    assert shown == ["()", "()"]
    assert [str(inspect.signature(c)) for c in (Sized, Made)] == ["(size)", "(name)"]
    assert [*inspect.signature(tn.data.transforms.RGB()).parameters] == ["image"]


def test_other_bases_still_get_the_arguments():
    class Base:
        def __new__(cls, *args, size):
            made = super().__new__(cls)
            made.__dict__["given"] = args, size
            return made

    class Both(nn.Module, Base):
        def __init__(self, *args, size):
            super().__init__()

    assert Both(1, size=2).given == ((1,), 2)


LOADERS = {
    "a.pt": tn.load,
    "a.npz": tn.load,
    "a.safetensors": tn.exchange.load_file,
    "b.safetensors": tn.exchange.safe_open,
    "a.npy": tn.data.NPY,
    "b.npz": tn.data.NPZ,
    "a.csv": lambda path: tn.data.CSV(path, "y"),
    "a.csv.gz": lambda path: tn.data.CSV(path, "y"),
}


@pytest.mark.parametrize("name", LOADERS)
def test_a_missing_file_names_its_folder_and_a_similar_name(tmp_path, name):
    path = tmp_path / name
    path.with_name("old_" + name).touch()
    with pytest.raises(FileNotFoundError) as raised:
        LOADERS[name](str(path))
    sentence = f"[Errno 2] No such file or directory: {str(path)!r}"
    check(raised.value, sentence, f"there is no {name!r} in {tmp_path}; did you mean 'old_{name}'?")
    assert raised.value.errno == 2 and raised.value.filename == str(path)
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(f"there is no folder {tmp_path}/no")):
        tn.load(tmp_path / "no" / "a.pt")


@pytest.mark.parametrize("name", ["a.pt", "a.npz", "a.safetensors", "a.npy", "b.npz"])
def test_a_pointer_of_git_lfs_is_recognized(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(POINTER)
    with pytest.raises(tn.data.FormatError, match="Git LFS pointer.*git lfs pull"):
        LOADERS[name](path)
