"""The way of ``tinynet train CONFIG`` through the rooms of ``tinynet/train``.

    python -m tests.tools.walk            print the numbers of rooms, stays and returns
    python -m tests.tools.walk --stays    print the stays, too

The command runs as always, with a config of the project for one epoch. The walk follows the config
through its forms: the path, a `Source`, a `Config`, `Parts`, a `Training`. Each function of
``tinynet/train`` that gets one of them as an argument counts once, when it is first called. A room
is a folder of ``tinynet/train``, or a file beside them. A stay is a sequence of functions of one
room, and a return is a stay in a room that was left before.
"""

import argparse
import contextlib
import io
import itertools
import sys
import tempfile
import threading
from pathlib import Path

import tinynet
from tinynet.train.assemble.build import Parts
from tinynet.train.cli import main
from tinynet.train.config.document import Source
from tinynet.train.config.sections import Config
from tinynet.train.run.training import Training

TRAIN = Path(tinynet.__file__).parent / "train"
CONFIG = Path(__file__).parents[2] / "configs" / "spiral.toml"
FORMS = (Source, Config, Parts, Training)


def is_config(value):
    """Whether a value is the config in one of its forms."""
    return isinstance(value, FORMS) or (isinstance(value, str) and value == str(CONFIG))


def first_calls(program):
    """The functions of `tinynet/train` that get the config, in the order of their first calls."""
    found, prefix, here = {}, f"{TRAIN}/", threading.get_ident()

    def see(frame, event, _):
        if event == "call" and threading.get_ident() == here:
            code = frame.f_code
            if code.co_filename.startswith(prefix) and code not in found:
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                names = [name for name in names if name != "self"]  # it is at home there
                if any(is_config(frame.f_locals.get(name)) for name in names):
                    found[code] = None

    sys.setprofile(see)
    try:
        program()
    finally:
        sys.setprofile(None)
    return [*found]


def room_of(code):
    """The folder of a function in `tinynet/train`, or its file."""
    return Path(code.co_filename).relative_to(TRAIN).parts[0].removesuffix(".py")


def stays_of(codes):
    """The rooms one after the other, each with the functions that were first called there."""
    named = [code for code in codes if not code.co_name.startswith("<")]
    return [(room, [*own]) for room, own in itertools.groupby(named, room_of)]


def returns_in(stays):
    """The number of stays in rooms that were left before."""
    return len(stays) - len({room for room, _ in stays})


def walk():
    """The stays of one run."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        words = ["train", str(CONFIG), "run.epochs=1", "--out", folder, "--quiet"]
        codes = first_calls(lambda: main(words))
    return stays_of(codes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stays", action="store_true", help="print them")
    shown = parser.parse_args().stays
    stays = walk()
    for room, codes in stays if shown else ():
        print(f"{room:<12} {', '.join(code.co_name for code in codes)}")
    rooms = {room for room, _ in stays}
    print(f"{len(rooms)} rooms, {len(stays)} stays, {returns_in(stays)} returns")
