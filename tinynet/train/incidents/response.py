"""What a run does about steps that come to NaN or infinity: keeps them, and stops or goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tinynet.invocation import command, shown
from tinynet.train.checkpoint.run_folder import RunFolder
from tinynet.train.config.problems import TrainError, in_users_code
from tinynet.train.config.sections import RunSection
from tinynet.train.incidents.nonfinite import NonFiniteError
from tinynet.train.incidents.post_mortem import Report


class Incidents:
    """Decides for `fit` whether a step that failed is skipped; each is kept in the run folder.

    Args:
        run: says what is to be done.
        folder: of the run.
        say: is told of each step that is skipped, in a sentence.

    Attributes:
        skipped: how many steps were.
    """

    def __init__(self, run: RunSection, folder: RunFolder, say: Callable[[str], None]) -> None:
        self.run = run
        self.folder = folder
        self.say = say
        self.skipped = 0

    def __call__(self, error: NonFiniteError) -> bool:
        """Keep the post-mortem; True if training is to go on without the step."""
        allowed = self.run.non_finite == "skip"
        skips = allowed and self.skipped < self.run.skip_limit
        self.skipped += skips
        error.remarks += self._keep(error, skips)
        if allowed and not skips:
            error.remarks.append(
                f"  {'skipped':<8} {self.skipped} steps before this one, and run.skip_limit "
                "allows no more"
            )
        if skips and error.post_mortem is not None:
            text = brief(error.post_mortem.report)
            self.say(f"skipped {text} ({self.skipped} of at most {self.run.skip_limit})")
        return skips

    def _keep(self, error: NonFiniteError, skipped: bool) -> list[str]:
        """Write the post-mortem; what is said about that."""
        if error.post_mortem is None:
            return []
        report = replace(error.post_mortem.report, skipped=skipped)
        path = self.folder.post_mortems / f"step_{report.step}"
        try:
            replace(error.post_mortem, report=report).save(path)
        except TrainError as problem:  # a full disk, a batch of what cannot be stored
            return [f"  {'kept':<8} not everything: {problem}"]
        return [f"  {'kept':<8} {shown(path)}", f"  {'':<8} {command('explain', self.folder.path)}"]


def brief(report: Report) -> str:
    """A report in a line: ``step 30 (epoch 2, batch 7 of 23): the loss is nan, made by log``."""
    where = f"step {report.step} (epoch {report.epoch}, batch {report.batch} of {report.batches})"
    made = report.suspects[0].brief if report.suspects else "nobody knows why"
    return f"{where}: {report.what}, {made}"


def in_a_record(error: Exception) -> str:
    """What a run record says about the error that ended the run."""
    if isinstance(error, NonFiniteError):
        return error.headline
    if isinstance(error, TrainError):
        return str(error)
    return in_users_code(error)
