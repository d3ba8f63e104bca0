"""``tinynet export RUN FILE``."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinynet import exchange, nn, onnx
from tinynet.core.printing import quantity
from tinynet.data.readers.tables import TableEncoder
from tinynet.train.assemble.build import build, first_batch
from tinynet.train.base.problems import TrainError, UsageError, did_you_mean, one_of
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.commands.options import TRAINED, argument, declare
from tinynet.train.diagnose.changes import Drift, recorded_figures
from tinynet.train.prediction.trained import Trained
from tinynet.train.run.runner import config_in, find_checkpoint, load_run
from tinynet.train.store.storage import moment_of, weights_of

MODEL = ".onnx"


def _safetensors(weights: dict[str, Any], path: Path) -> None:
    # The format has no tied weights: each name gets its own copy.
    exchange.save_file({name: value.clone() for name, value in weights.items()}, path)


WRITERS: dict[str, Callable[[dict[str, Any], Path], object]] = {
    ".npz": exchange.save,
    ".safetensors": _safetensors,
    ".pt": exchange.save_pytorch,
}
"""The function that writes weights, for each file extension."""
ENDINGS = (*WRITERS, MODEL)


@declare(
    "export",
    "write the weights or the model of a run to a file",
    *TRAINED,
    argument("file", metavar="FILE", help=f"a name that ends in {one_of(ENDINGS)}"),
    argument("--force", action="store_true", help="replace an existing file"),
)
def export_command(arguments: argparse.Namespace) -> int:
    """Write the state_dict of a run's model.

    The file extension selects the format: .npz for tinynet.load, .safetensors, or .pt for PyTorch's
    torch.load. With .onnx, write the model itself, for onnxruntime and other programs.
    """
    path = Path(arguments.file)
    if path.suffix not in ENDINGS:
        hint = did_you_mean(path.suffix, ENDINGS)
        raise UsageError(f"{path} must end in one of {one_of(ENDINGS)}{hint}")
    if path.exists() and not arguments.force:
        raise UsageError(f"{path} already exists; --force replaces it")
    try:
        return (_write_model if path.suffix == MODEL else _write_weights)(arguments, path)
    except OSError as error:
        raise TrainError(f"{path} cannot be written ({error.strerror or error})") from None


def _write_weights(arguments: argparse.Namespace, path: Path) -> int:
    saved = _saved(arguments)
    weights = weights_of(saved)
    WRITERS[path.suffix](weights, path)
    count = sum(value.numel() for value in weights.values())
    what = f"{quantity(len(weights), 'tensor')}, {quantity(f'{count:,}', 'number')}"
    print(f"{path}: {what}, from {moment_of(saved)}")
    target = (saved.get("preprocessing") or {}).get("target")
    if target and (target["mean"], target["std"]) != (0.0, 1.0):
        units = f"multiply by {target['std']:g} and add {target['mean']:g}"
        print(f"{target['name']} was standardized: for its units, {units}")
    return 0


def _write_model(arguments: argparse.Namespace, path: Path) -> int:
    """Write the model as an ONNX graph, for batches of any size."""
    trained = load_run(arguments.run, best=arguments.best)
    example, _ = first_batch(trained.parts, trained.parts.test_set, 2)
    try:
        program = onnx.export(_in_units(trained), (example,), path)
    except (onnx.OnnxExporterError, ModuleNotFoundError) as error:
        raise TrainError(f"the model is not exported: {error}") from None
    count = len(program.model_proto.graph.node)
    print(f"{path}: {quantity(count, 'operation')}, from {moment_of(trained.saved)}")
    return 0


class _InUnits(nn.Module):
    """A model of a standardized target, with outputs in the units of the target."""

    def __init__(self, model: nn.Module, mean: float, std: float) -> None:
        super().__init__()
        self.model, self.mean, self.std = model, mean, std

    def forward(self, inputs: Any) -> Any:
        outputs = self.model(inputs)
        return outputs * self.std + self.mean


def _in_units(trained: Trained) -> nn.Module:
    """Return the model of a run, with outputs in the units of its target."""
    encoder, model = trained.preprocessing, trained.parts.model
    if not isinstance(encoder, TableEncoder) or not encoder.scales_target:
        return model
    assert encoder.target is not None
    return _InUnits(model, encoder.target.mean, encoder.target.std)


def _saved(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the checkpoint; warn of changes since the run, if its config can still be built."""
    path, saved = find_checkpoint(arguments.run, best=arguments.best)
    drift = Drift(RunFolder(path.parent))
    figures: dict[str, dict[str, float]] = {}
    with contextlib.suppress(TrainError):  # the weights need neither source files nor data
        config = config_in(saved, path, drift)
        figures = recorded_figures(saved)
        drift.compare(build(config))
    drift.warn(figures)
    return saved
