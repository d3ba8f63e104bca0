"""The files of a run that repeating it and detecting later changes need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tinynet.train.assemble.build import Parts
from tinynet.train.base.checkpoint_file import sha256
from tinynet.train.base.reading import read_bytes
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.config.sources import source_copies
from tinynet.train.diagnose.changes import fingerprints
from tinynet.train.store.tokens import vocabulary_files


def input_files(
    parts: Parts,
    folder: RunFolder,
    config_text: str,
    preprocessing: Mapping[str, Any] | None,
    record: dict[str, Any],
) -> dict[str, bytes]:
    """Return the files of a run that do not change while it trains: name -> content.

    Args:
        parts: the objects of the run.
        folder: the run folder.
        config_text: the config to store.
        preprocessing: what the data set learned from its training part.
        record: the content of ``run.json``, which gets the origins of the copies of source files,
            the fingerprints of the data, and the checksums of other files.

    Raises:
        TrainError: if a file of the folder cannot be read.
    """
    copies, record["sources"] = source_copies(parts.config.sources, folder, record)
    checksums = record.get("files", {})
    for path in folder.path.glob("changes*.diff"):
        record["files"] = checksums = {path.name: sha256(read_bytes(path)), **checksums}
    record["data"] = record.get("data") or fingerprints(parts)
    text = config_text.encode("utf-8", "backslashreplace")
    files = {folder.config.name: text, **vocabulary_files(parts.train_set, folder), **copies}
    if preprocessing:
        learned = json.dumps(preprocessing, ensure_ascii=False, indent=1) + "\n"
        files[folder.preprocessing.name] = learned.encode("utf-8", "backslashreplace")
    return files
