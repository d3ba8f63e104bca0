"""Runs one program in this process, on PyTorch or on tinynet, for a few steps.

`python launch.py ENGINE RESULT STEPS SECONDS FILE arguments...` writes what came of it to RESULT,
as JSON: how it ended, the losses that `backward` was called on by the line that called it, and the
processor's time for a step. FILE can be a notebook (its code cells are run) or, as `README.md#3`,
the third Python block of a Markdown file.
"""

import contextlib
import importlib
import itertools
import json
import os
import random
import re
import runpy
import signal
import socket
import sys
import time
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # last: a program may have a made.py, too
from sync import Draws, compute_in_double

STAND_INS = Path(__file__).parent / "stand_ins"
ROOT = Path(__file__).parents[3]


class Run:
    """A run: its losses, and the decision that it has run long enough."""

    def __init__(self, result: str, steps: int):
        self.result, self.steps = Path(result), steps
        self.series: dict[str, list[float]] = {}
        self.times: list[float] = []
        self.gradients: list[float] = []
        self.outputs: list[float] = []
        self.draws: Draws | None = None
        self.parameters: list = []
        self.notes, self.outermost, self.inner = False, {}, {}

    def end(self, status: str, error: str = "") -> None:
        """Write the result and exit; the program cannot delay that."""
        steady = self.times[1:]
        seconds = (steady[-1] - steady[0]) / (len(steady) - 1) if len(steady) > 2 else None
        found = {"status": status, "error": error, "series": self.series, "seconds": seconds}
        found.update(gradients=self.gradients, outputs=self.outputs, **self.captures())
        self.result.write_text(json.dumps(found), encoding="utf-8")
        sys.stdout.flush()
        os._exit(0)

    def watch(self, torch) -> None:
        """Record each loss that `backward` is called on; end after enough of them."""
        original, within = torch.Tensor.backward, False

        def backward(loss, *args, **kwargs):
            nonlocal within
            if within:  # PyTorch calls it a second time where a default device is set
                return original(loss, *args, **kwargs)
            within = True
            frame = sys._getframe(1)
            site = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
            self.series.setdefault(site, []).append(float(loss.detach().double().mean()))
            original(loss, *args, **kwargs)
            within = False
            self.times.append(time.process_time())
            if self.notes:
                self.note_gradients()
            if len(self.times) >= self.steps:
                self.end("steps")

        torch.Tensor.backward = backward

    def synchronize(self, torch) -> None:
        """Draw the same numbers on both engines, and record the gradients of each step."""
        self.draws = Draws(torch, float(os.environ.get("NUDGE", "0")))
        self.draws.install()
        self.note(torch, 8)

    def note(self, torch, most: int, compiling: bool | None = None) -> None:
        """Record gradients and the magnitudes of what outermost modules return, `most` of them.

        When compiling, each outermost module is compiled at its first call. Whether it is, what
        modules inside of it return is not recorded (None: is if they are called alone): a
        compiled one calls them again to differentiate a backward pass.
        """
        self.notes = True
        create = torch.optim.Optimizer.__init__

        def created(optimizer, *args, **kwargs):
            create(optimizer, *args, **kwargs)
            self.parameters += [p for group in optimizer.param_groups for p in group["params"]]

        torch.optim.Optimizer.__init__ = created
        call = torch.nn.Module.__call__

        def called(module, *args, **kwargs):
            if id(module) in self.inner:
                return call(module, *args, **kwargs)
            if compiling is not None and id(module) not in self.outermost:
                self.outermost[id(module)] = module
                self.inner |= {id(m): m for m in module.modules() if m is not module}
                if compiling and "forward" not in vars(module):
                    module.compile(verify=0)
            torch.nn.Module.__call__ = call  # of those inside
            try:
                made = call(module, *args, **kwargs)
            finally:
                torch.nn.Module.__call__ = called
            if len(self.outputs) < most and not torch.jit.is_tracing():  # traced more than once
                parts = made if isinstance(made, (tuple, list)) else [made]
                kept = [x.detach() for x in parts if isinstance(x, torch.Tensor)]
                if any(x.is_complex() or x.is_sparse for x in kept):
                    return made
                self.outputs += [float(x.double().abs().mean()) for x in kept]
            return made

        torch.nn.Module.__call__ = called

    def note_gradients(self) -> None:
        """Record the sum of the gradients' magnitudes, and restart the numbers."""
        found = [p.grad for p in self.parameters if p.grad is not None and not p.grad.is_sparse]
        self.gradients.append(sum(float(g.detach().double().abs().sum()) for g in found))
        if self.draws is not None:
            self.draws.restart(len(self.times))

    def captures(self) -> dict:
        """Return how many calls of compiled modules were replayed, captured and eager, and why."""
        forwards = [vars(module).get("forward") for module in self.outermost.values()]
        forwards = [f for f in forwards if hasattr(f, "problems")]
        calls = [sum(part) for part in zip(*(f.calls() for f in forwards), strict=True)]
        reasons = {problem.reason for f in forwards for problem in f.problems}
        return {"calls": calls or [0, 0, 0], "reasons": sorted(reasons)}


def code_of(name: str) -> str:
    """Return the Python file to run: the program, or the code of a notebook or a page."""
    file, _, number = name.partition("#")
    if file.endswith(".ipynb"):
        cells = json.loads(Path(file).read_text(encoding="utf-8"))["cells"]
        cells = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        text = re.sub(r"^(\s*)(%+[a-z]|!).*$", r"\1pass", "\n\n".join(cells), flags=re.M)
        first = r"^from __future__ import .*\n"  # of the whole file, and a cell may have it
        text = "".join(re.findall(first, text, re.M)) + re.sub(first, "\n", text, flags=re.M)
    elif number:
        page = Path(file).read_text(encoding="utf-8")
        text = re.findall(r"^```(?:python|py)\n(.*?)^```", page, re.M | re.S)[int(number) - 1]
    else:
        return file
    made = Path(file).with_name("as_a_program.py")
    made.write_text(text, encoding="utf-8")
    return str(made)


def stay_here() -> None:
    """Block the network: programs get stand-ins for what they would download."""
    connect = socket.socket.connect

    def local(self, address):
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"{address} is not asked: programs run without the network")
        return connect(self, address)

    socket.socket.connect = local


def keep_old_names() -> None:
    """Bring back what notebooks import from older IPython."""
    with contextlib.suppress(ImportError):
        display = importlib.import_module("IPython.display")
        display.set_matplotlib_formats = lambda *formats, **options: None


def seed_generators(numpy) -> None:
    """Seed what numpy and gymnasium would seed with the machine's entropy."""
    owners = {numpy.random: "default_rng"}
    with contextlib.suppress(ImportError):
        owners[importlib.import_module("gymnasium.utils.seeding")] = "np_random"
    for owner, name in owners.items():
        setattr(owner, name, _seeded(getattr(owner, name)))


def _seeded(create):
    """Return a function that numbers the generators it creates without a seed."""
    numbers = itertools.count()
    return lambda seed=None: create(next(numbers) if seed is None else seed)


def seed_otherwise(torch, seed: int) -> None:
    """Seed the engine's own generator, and shift the seeds that a program sets by as much.

    No number of it may count: the engines' generators differ.
    """
    set_seed = torch.manual_seed
    set_seed(seed)
    if seed:
        torch.manual_seed = lambda number: set_seed(int(number) + seed)


def main(engine: str, result: str, steps: str, seconds: str, name: str, *arguments: str) -> None:
    warnings.simplefilter("ignore")
    os.environ.update(MPLBACKEND="Agg", CUDA_VISIBLE_DEVICES="")
    sys.path[0] = str(Path(name).resolve().parent)
    sys.path[1:1] = [str(STAND_INS)]
    if engine == "tinynet":
        sys.path.append(str(ROOT))
        import tinynet.as_torch  # noqa: F401
    import numpy
    import torch

    for ours in ("sync", "sampling"):
        sys.modules.pop(ours, None)  # a program may have one of its own
    stay_here()
    keep_old_names()
    torch.set_num_threads(1)
    seed_otherwise(torch, int(os.environ.get("OTHER_SEED", "0")))
    numpy.random.seed(0)
    random.seed(0)
    run = Run(result, int(steps))
    run.watch(torch)
    if os.environ.get("SAME_NUMBERS"):
        run.synchronize(torch)
        seed_generators(numpy)
    if "CAPTURED" in os.environ:
        run.note(torch, 400, compiling=os.environ["CAPTURED"] == "1")
        seed_generators(numpy)
    if os.environ.get("IN_DOUBLE"):
        compute_in_double(torch)
    signal.signal(signal.SIGPROF, lambda *_: run.end("time"))
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
    sys.argv[:] = [name, *arguments]
    try:
        runpy.run_path(code_of(name), run_name="__main__")
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            run.end("error", f"SystemExit: {leaving.code}")
    except BaseException as error:
        run.end("error", described(error, engine))
    run.end("finished")


def described(error: BaseException, engine: str) -> str:
    """Return an error in one line: the last lines of the program, and the message."""
    places, entry = [], error.__traceback__
    while entry:
        file = entry.tb_frame.f_code.co_filename
        if engine not in file and "<frozen" not in file:
            places.append(f"{Path(file).name}:{entry.tb_lineno}")
        entry = entry.tb_next
    said = str(error).strip().splitlines() or [""]
    return f"{places[-1] if places else ''} {type(error).__name__}: {said[0][:300]}"


if __name__ == "__main__":
    main(*sys.argv[1:])
