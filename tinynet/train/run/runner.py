"""One run, from the config file to its run folder, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import util
from pathlib import Path
from typing import Any, Literal

from tinynet import nn
from tinynet.base.invocation import command, is_wrapped, python, shown
from tinynet.core.printing import quantity
from tinynet.data import Tokenizer
from tinynet.train import prediction
from tinynet.train.assemble.build import (
    Parts,
    build,
    build_model,
    computing,
    threads_left_to_others,
)
from tinynet.train.assemble.optimizers import WEIGHT_FILES, load_initial, read_weights
from tinynet.train.assemble.stopping import EARLY_STOPPING, LIMITS, describe_batches, limit_of
from tinynet.train.assemble.trial import trial
from tinynet.train.base.checkpoint_file import CheckpointError, read_checkpoint
from tinynet.train.base.files import locked, write_text
from tinynet.train.base.problems import ConfigError, Problem, UsageError, one_of
from tinynet.train.base.run_folder import RunFolder, new_run_folder, no_weights
from tinynet.train.config.document import parse
from tinynet.train.config.reference import to_toml
from tinynet.train.config.resolve import load_config, resolve
from tinynet.train.config.sections import Config
from tinynet.train.diagnose.changes import Drift, describe_set, recorded_figures
from tinynet.train.diagnose.data_check import check_data
from tinynet.train.loop.fit import evaluate
from tinynet.train.metrics.criterion import SELECTED_ON_TEST
from tinynet.train.observe.progress import as_json, describe_figures
from tinynet.train.run.measures import Result
from tinynet.train.run.processes import (
    agreeing,
    check_same,
    resumable,
    sharing,
    temporary,
    with_override,
)
from tinynet.train.run.training import Show, Training
from tinynet.train.step.ranks import Ranks, join
from tinynet.train.store.provenance import check_vocabulary, new_record, stored_tokenizer
from tinynet.train.store.storage import moment_of, newest_checkpoint, weights_of


def run(
    config_path: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    out: str | Path | None = None,
    quiet: bool = False,
    json: bool = False,
    callbacks: Sequence[Any] = (),
) -> Result:
    """Train the model of a config file; return the model, its figures and the run folder.

    Args:
        config_path: the TOML file.
        overrides: ``["optimizer.lr=3e-4"]`` or ``{"optimizer.lr": 3e-4}``; override the file.
        out: the folder that holds the run folders; overrides ``run.out``.
        quiet: print nothing and show no bar.
        json: print one JSON object per epoch, and a summary at the end.
        callbacks: objects with methods of `Callback`, called after ``run.callbacks``. The
            config in the run folder does not have them.

    Raises:
        ConfigError: if the config has mistakes; lists all of them. Nothing has been written.
        TrainError: if the run cannot start or fails.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "digits.toml").write_text('''
        ...     data = {type = "Digits"}
        ...     model = {type = "mlp", sizes = [64, 32, 10]}
        ...     loss = {type = "CrossEntropyLoss"}
        ...     optimizer = {type = "Adam", lr = 0.01}
        ... ''')
        >>> result = run(folder / "digits.toml", {"run.epochs": 3}, out=folder, quiet=True)
        >>> result.metrics["accuracy"] > 0.9
        True
        >>> evaluate_run(result.folder, quiet=True).metrics == result.metrics
        True
    """
    ranks = join()
    quiet = quiet or (ranks is not None and not ranks.is_first)
    show: Show = "nothing" if quiet else "json" if json else "text"
    with temporary(ranks) as own:
        with agreeing(ranks):
            config = load_config(config_path, overrides, out=out)
            if ranks is not None and config.optimizer.accumulate == 1:
                overrides = with_override(overrides, "optimizer.accumulate", ranks.size)
                config = load_config(config_path, overrides, out=out)
        with computing(config.run):
            result = _train(config, show, ranks, own, callbacks)
    print_result(result, show)
    return result


def _train(
    config: Config, show: Show, ranks: Ranks | None, own: Path | None, callbacks: Sequence[Any]
) -> Result:
    with agreeing(ranks):
        parts = prepare(config)
        parts.callbacks.add(named(callbacks))
        reports = check_data(parts)
        recording = trial(parts, None)
        check_same(ranks, to_toml(config))
        folder = new_run_folder(own or config.run.out, config.run.name)
    if show == "text" and ranks is not None:
        print(sharing(ranks, config))
    if show == "text" and (line := threads_left_to_others()):
        print(line)
    for name, report in reports.items():
        if show == "text" and report.checked < report.examples:
            print(f"data: checked {quantity(report.extent, 'example')} of the {name} set")
    if show == "text" and (used := describe_batches(parts)):
        print(used)
    with locked(folder.path), resumable("resume", folder.path):
        text = to_toml(config)
        write_text(folder.config, text)
        training = Training(parts, folder, text, show, ranks=ranks)
        return training.train(new_record(config, folder), recording)


def named(callbacks: Sequence[Any]) -> dict[str, Any]:
    """Return the callbacks of a caller by their names in checkpoints."""
    return {f"callbacks.{number}": callback for number, callback in enumerate(callbacks)}


def print_result(result: Result, show: Show) -> None:
    """Print the result of a run, for people or for programs."""
    if show == "text":
        _print_text(result)
    elif show == "json":
        print(as_json(_summary(result)), flush=True)


def prepare(config: Config) -> Parts:
    """Build the objects of a config; load the weights that ``run.init_from`` names.

    Raises:
        ConfigError: if a constructor refuses its arguments, or the weights do not fit.
        TrainError: if the weights cannot be read.
    """
    parts = build(config, trackers=True)
    if config.run.init_from:
        weights = _initial_weights(Path(config.run.init_from))
        try:
            load_initial(parts.model, weights, config.run.init_skip)
        except (RuntimeError, UsageError) as error:
            key = "init_skip" if isinstance(error, UsageError) else "init_from"
            problem = Problem(config.origin(f"run.{key}"), f"run.{key}", str(error))
            raise ConfigError([problem]) from None
    return parts


def _initial_weights(path: Path) -> dict[str, Any]:
    """Return the weights of a run folder, of a checkpoint, or of a file of weights."""
    if path.is_file() and path.suffix in WEIGHT_FILES:
        try:
            return (
                weights_of(read_checkpoint(path)) if path.suffix == ".npz" else read_weights(path)
            )
        except CheckpointError:
            return read_weights(path)
    _, saved = find_checkpoint(path)
    return weights_of(saved)


def load_run(place: str | Path, *, best: bool = False, data: bool = True) -> prediction.Trained:
    """Load the trained model of a run, with the data and everything else in its config.

    Args:
        place: a run folder, or a checkpoint in one.
        best: load the best weights of a run folder instead of the last.
        data: whether to load the data, too. The model of a table predicts without it, because its
            checkpoint has what was learned from the training part.

    Raises:
        TrainError: if there is no checkpoint, it is damaged, its config is no longer valid, or its
            text has changed.

    Example:
        >>> few = {"run.epochs": 1, "run.out": str(getfixture("tmp_path"))}
        >>> folder = run("configs/digits_mlp.toml", few, quiet=True).folder
        >>> trained = load_run(folder)
        >>> trained.model(tn.zeros(5, 64)).shape
        tinynet.Size([5, 10])
        >>> len(trained.predict(tn.zeros(5, 64)))
        5
    """
    path, saved = find_checkpoint(place, best=best)
    drift = Drift(RunFolder(path.parent))
    config = config_in(saved, path, drift)
    if not data:
        drift.warn(recorded_figures(saved))
        model = build_model(config)
        _load_weights(model, saved, path)
        return prediction.Trained(model, config, path, saved, drift.changes)
    parts = build(config, saved.get("preprocessing"))
    check_vocabulary(parts.train_set, drift.folder, drift.damage)
    drift.compare(parts)
    drift.warn(recorded_figures(saved))
    _load_weights(parts.model, saved, path)
    return prediction.Trained(parts.model, config, path, saved, drift.changes, parts)


def load_language_model(place: str | Path, *, best: bool = False) -> tuple[nn.Module, Tokenizer]:
    """Load a language model and its tokenizer; the training text is not needed.

    Args:
        place: a run folder, or a checkpoint in one.
        best: load the best weights of a run folder instead of the last.

    Raises:
        TrainError: as for `load_run`; or if the run did not train on text, or its tokenizer is
            damaged.
    """
    path, saved = find_checkpoint(place, best=best)
    drift = Drift(RunFolder(path.parent))
    tokenizer = stored_tokenizer(drift.folder, drift.damage)
    config = config_in(saved, path, drift)
    drift.warn(recorded_figures(saved))
    model = build_model(config)
    _load_weights(model, saved, path)
    return model, tokenizer


def config_in(saved: Mapping[str, Any], path: Path, drift: Drift) -> Config:
    """Return the config in a checkpoint."""
    text = str(saved["config"]).encode()
    file = str(RunFolder(path.parent).config)
    return resolve(parse(text, file=file, folder=path.parent), stand_ins=drift.stand_ins)


def _load_weights(model: nn.Module, saved: Mapping[str, Any], path: Path) -> None:
    try:
        model.load_state_dict(weights_of(saved))
    except RuntimeError as error:
        raise UsageError(
            f"{path} does not fit the model that its config describes: {error}"
        ) from error


def find_checkpoint(place: str | Path, *, best: bool = False) -> tuple[Path, dict[str, Any]]:
    """Read the checkpoint of a run folder, or the named one; raises the errors of `load_run`."""
    path = Path(place)
    if not path.exists():
        raise UsageError(f"there is no run folder {place}")
    if path.suffix == ".toml":
        raise UsageError(f"{place} is a config; name the folder of a run that was trained from it")
    if path.is_dir():
        folder = RunFolder(path)
        found = None if best else newest_checkpoint(folder)
        if found is not None:
            return found
        path = folder.best if best else folder.checkpoint
        if not path.exists():
            raise no_weights(folder, path)
    return path, read_checkpoint(path)


def evaluate_run(
    place: str | Path,
    *,
    best: bool = False,
    on: Literal["training", "validation", "test"] = "test",
    quiet: bool = False,
    json: bool = False,
) -> Result:
    """Evaluate the model of a run again, on its test set or another of its sets.

    Args:
        place: a run folder, or a checkpoint in one.
        best: use the best weights instead of the last.
        on: the data set.
        quiet: print nothing.
        json: print a JSON object.

    Raises:
        TrainError: if there is no checkpoint, it is damaged, or its config is no longer valid.
        UsageError: if the run has no such set.

    Example:
        >>> few = {"run.epochs": 1, "run.out": str(getfixture("tmp_path"))}
        >>> folder = run("configs/digits_mlp.toml", few, quiet=True).folder
        >>> sorted(evaluate_run(folder, quiet=True).metrics)
        ['accuracy', 'loss']
    """
    trained = load_run(place, best=best)
    parts, config = trained.parts, trained.parts.config
    if on not in parts.batches:
        raise UsageError(f"the run has no {on} set; it has: {one_of(parts.batches)}")
    with computing(config.run):
        metrics = evaluate(
            parts.model,
            parts.loss,
            parts.batches[on],
            metrics=parts.metrics,
            seed=config.run.seed,
            method=parts.method,
        )
    epoch, examples = trained.saved["epoch"], len(parts.sets[on])
    then = recorded_figures(trained.saved).get(on) if trained.changes else None
    if json:
        content = {"checkpoint": str(trained.checkpoint), "epoch": epoch, on: metrics}
        print(as_json({**content, **({"recorded": then} if then else {})}))
    elif not quiet:
        of = f"{quantity(examples, 'example')}, {moment_of(trained.saved)}"
        print(f"{describe_set(on, metrics)} ({of})")
        if then:
            print(f"{describe_set(on, then)} (recorded when it was trained)")
    return Result(trained.checkpoint.parent, metrics, parts.model, config)


def _print_text(result: Result) -> None:
    """Print the last lines of a run: its figures, its folder, and how to view it."""
    if not result.is_complete:
        print("stopped after the step in progress; everything is saved. To resume:")
        print(f"  {command('resume', result.folder)}")
    for line in _figures(result):
        print(line)
    if result.stopped_by in LIMITS:
        print(f"stopped by {result.stopped_by} = {limit_of(result.config.run, result.stopped_by)}")
    elif result.stopped_by == EARLY_STOPPING and result.best:
        patience = result.config.evaluation.patience
        print(f"stopped early: {result.best.reason} (evaluation.patience = {patience})")
    elif isinstance(result.stopped_by, str):
        print(f"stopped by a callback: {result.stopped_by}")
    if result.compiled:
        print(_describe_programs(result.compiled))
    print(f"run folder: {shown(result.folder)}")
    if (report := RunFolder(result.folder).report).exists():
        print(f"report: {shown(report)}")
    out = Path(result.config.run.out)
    runs = out if result.folder.is_relative_to(out) else result.folder  # it may have been moved
    print(f"view it: {command('board', runs)}")
    if not is_wrapped() and util.find_spec("tensorboard") is None:  # run.py installs it by itself
        print(f"  first, once: {python('-m', 'pip', 'install', 'tensorboard')}")


def _figures(result: Result) -> Iterator[str]:
    """Yield lines on what the run measured: none if it was stopped before its first evaluation."""
    if result.validation:
        yield describe_set("validation", result.validation) + _best_remark(result)
        epoch = result.best.epoch if result.best else 0
        is_same = epoch and result.metrics == result.best_metrics
        if result.metrics:
            weights = "last weights, which are the best" if is_same else "last weights"
            yield f"{describe_set('test', result.metrics)} (with the {weights})"
        if result.best_metrics and not is_same:
            weights = f"best weights, of epoch {epoch}"
            yield f"{describe_set('test', result.best_metrics)} (with the {weights})"
    elif result.metrics:
        yield describe_set("test", result.metrics) + _best_remark(result)
        if result.best is not None and result.best.epoch:
            yield SELECTED_ON_TEST


def _best_remark(result: Result) -> str:
    best, last = result.best, result.validation or result.metrics
    criterion = best.criterion(best.figures) if best and best.figures else None
    if best is None or criterion is None:
        return ""
    if doubt := criterion.doubt(best.figures):
        return f" (best: after epoch {best.epoch}, as {doubt})"
    figures = {criterion.figure: best.figures[criterion.figure]}
    if figures.items() <= last.items():
        return ""
    return f" (best: {describe_figures(figures)}, after epoch {best.epoch})"


def _describe_programs(compiled: Mapping[str, Any]) -> str:
    calls = compiled["replayed"] + compiled["captured"] + compiled["eager"]
    count, replayed = compiled["programs"], compiled["replayed"]
    if not count:
        return f"compiled: nothing; all {quantity(f'{calls:,}', 'step')} ran eagerly"
    programs = quantity(count, "program")
    return f"compiled: {programs} replayed {replayed:,} of {calls:,} steps and evaluated batches"


def _summary(result: Result) -> dict[str, Any]:
    best = result.best
    return {
        "folder": str(result.folder),
        "stopped_by": result.stopped_by,
        **({"validation": result.validation} if result.validation else {}),
        "test": result.metrics,
        **({"test_best": result.best_metrics} if result.validation else {}),
        "selected_on": "validation" if result.validation else "test",
        "best": None if best is None else {"epoch": best.epoch, **best.figures},
        **({"compiled": result.compiled} if result.compiled else {}),
    }
