"""Writing the page that compares several runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tinynet.core.printing import quantity
from tinynet.train.show.page import page
from tinynet.train.show.run_data import read_run
from tinynet.train.study.comparison.compared import Comparison
from tinynet.train.study.comparison.sections import COMPARISON
from tinynet.train.study.results import Results


def comparison_of(folders: Iterable[Path], path: Path, search: Results | None = None) -> str:
    """Return the page that compares runs.

    Args:
        folders: their folders.
        path: where the page will be, for links to the reports of the runs.
        search: the results of the search that made the runs, if one did.

    Raises:
        TrainError: if a folder is no run folder, or a file in it is damaged.
    """
    compared = Comparison([read_run(folder) for folder in folders], path, search)
    name = f"{path.absolute().parent.name}: {quantity(len(compared.runs), 'run')}"
    return page(name, compared, COMPARISON)
