"""TensorBoard inside a notebook: `notebook.start("--logdir runs")` and `notebook.list()`."""

from __future__ import annotations

import datetime
import json
import os
import shlex
import sys
import time

from tinynet.board import launching

_FRAME = """<iframe id="{name}" width="100%" height="{height}" frameborder="0"></iframe>
<script>
  (function() {{
    const url = new URL({url}, window.location);
    if ({port}) url.port = {port};
    document.getElementById("{name}").src = url;
  }})();
</script>"""


def start(args_string: str) -> None:
    """Start TensorBoard, or find the one that was started so before, and show it.

    A notebook shows it in a frame; elsewhere its address is printed. It goes on running when the
    notebook ends; `list` says its process.

    Args:
        args_string: the arguments of TensorBoard as on the command line: `"--logdir runs"`.

    Raises:
        ImportError: TensorBoard is not installed; the message says how to install it.
        RuntimeError: it did not start; the message says what it said.
    """
    found, known = launching.start(shlex.split(args_string, comments=True))
    if known:
        print(
            f"Reusing TensorBoard on port {found.port} (pid {found.pid}), "
            f"started {_ago(found)} ago. (Use '!kill {found.pid}' to kill it.)"
        )
    display(found.port)


def list() -> None:
    """Print all TensorBoards that run on this machine, with their ports, folders and processes."""
    found = launching.running()
    if not found:
        print("No known TensorBoard instances running.")
        return
    print("Known TensorBoard instances:")
    for one in found:
        print(f"  - port {one.port}: logdir {one.logdir} (started {_ago(one)} ago; pid {one.pid})")


def display(port: int | None = None, height: int = 800) -> None:
    """Show a TensorBoard that runs.

    Args:
        port: where it listens; the one that was started last unless given.
        height: of the frame, in pixels.

    Raises:
        RuntimeError: none runs there.
    """
    found = [one for one in launching.running() if port in (None, one.port)]
    if not found:
        where = "" if port is None else f" on port {port}"
        raise RuntimeError(f"No TensorBoard runs{where}. Start one with notebook.start.")
    one = found[-1]
    ipython = sys.modules.get("IPython")  # a notebook has imported it
    if ipython is None or ipython.get_ipython() is None:
        print(f"TensorBoard runs at http://localhost:{one.port}{one.path or '/'}")
        return
    ipython.display.display(ipython.display.HTML(frame(one, height)))


def frame(one: launching.Running, height: int) -> str:
    """The HTML of a frame with a TensorBoard in it.

    Behind a proxy, the environment variable `TENSORBOARD_PROXY_URL` says where it is, with
    `%PORT%` for its port.
    """
    proxy = os.environ.get("TENSORBOARD_PROXY_URL")
    url = proxy.replace("%PORT%", str(one.port)) if proxy else one.path or "/"
    name = f"tensorboard-frame-{one.pid}-{time.monotonic_ns():x}"
    port = 0 if proxy else one.port
    return _FRAME.format(name=name, height=height, url=json.dumps(url), port=port)


def _ago(one: launching.Running) -> datetime.timedelta:
    return datetime.timedelta(seconds=max(0, int(time.time() - one.started)))
