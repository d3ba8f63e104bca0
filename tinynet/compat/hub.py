"""``torch.hub`` and ``torch.utils.model_zoo`` for local files; tinynet downloads nothing."""

from __future__ import annotations

import builtins
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from tinynet.compat.refusal import refusal
from tinynet.exchange.serialization import load as _load

_LOCAL = "tinynet downloads nothing; download the file and use load or load_file"
load = refusal("hub.load", _LOCAL)
download_url_to_file = refusal("hub.download_url_to_file", _LOCAL)
list = refusal("hub.list", _LOCAL)
_folders: builtins.list[str] = []  # what set_dir set
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the start of a file's hash in its name


def _get_torch_home() -> str:
    home = os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.expanduser(os.environ.get("TORCH_HOME", home))


def get_dir() -> str:
    """Return the folder of downloaded files.

    It is the folder of ``set_dir``, else ``hub`` in ``$TORCH_HOME``, else in ``~/.cache/torch``.

    Example:
        >>> from tinynet.compat import hub
        >>> hub.get_dir().endswith("hub")
        True
    """
    if _folders:
        return _folders[-1]
    return os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloaded files.

    Args:
        d: the folder.
    """
    _folders[:] = [os.path.expanduser(d)]


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """Load a previously downloaded file, found by the name in its URL.

    Args:
        url: the URL; it is not contacted.
        model_dir: the folder; by default ``checkpoints`` in ``get_dir()``.
        map_location: only the cpu.
        progress, check_hash: without effect.
        file_name: the file's name in the folder, if it differs.
        weights_only: as for ``tinynet.load``.

    Raises:
        FileNotFoundError: the file does not exist; the message has the expected path.
        ExchangeError: it is not a weight file.

    Example:
        >>> from tinynet.compat import hub
        >>> folder = getfixture("tmp_path")
        >>> tn.save({"w": tn.ones(2)}, folder / "net-1.pth")
        >>> hub.load_state_dict_from_url("https://example.org/net-1.pth", model_dir=folder)
        {'w': tensor([1., 1.])}
    """
    folder = Path(get_dir(), "checkpoints") if model_dir is None else Path(model_dir)
    file = folder / (file_name or os.path.basename(urlparse(url).path))
    if not file.exists():
        raise FileNotFoundError(f"tinynet downloads nothing: download {url} to {file}")
    return _load(file, map_location, weights_only=weights_only)


load_url = load_state_dict_from_url
