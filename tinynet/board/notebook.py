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
    """Start TensorBoard, or reuse one started with the same arguments, and display it.

    A notebook shows it in a frame; otherwise its address is printed. It keeps running when the
    notebook ends; `list` shows its process id.

    Args:
        args_string: the arguments of TensorBoard as on the command line: `"--logdir runs"`.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
        RuntimeError: it did not start; the message has its output.
    """
    found, known = launching.start(shlex.split(args_string, comments=True))
    if known:
        print(
            f"Reusing TensorBoard on port {found.port} (pid {found.pid}), "
            f"started {_ago(found)} ago. (Use '!kill {found.pid}' to kill it.)"
        )
    display(found.port)


def list() -> None:
    """Print all TensorBoards running on this machine, with their ports, folders and process ids."""
    found = launching.running()
    if not found:
        print("No known TensorBoard instances running.")
        return
    print("Known TensorBoard instances:")
    for one in found:
        print(f"  - port {one.port}: logdir {one.logdir} (started {_ago(one)} ago; pid {one.pid})")


def display(port: int | None = None, height: int = 800) -> None:
    """Display a running TensorBoard.

    Args:
        port: its port; by default the one started last.
        height: of the frame, in pixels.

    Raises:
        RuntimeError: no TensorBoard runs at this port.
    """
    found = [one for one in launching.running() if port in (None, one.port)]
    if not found:
        where = "" if port is None else f" on port {port}"
        raise RuntimeError(f"No TensorBoard runs{where}. Start one with notebook.start.")
    one = found[-1]
    ipython = sys.modules.get("IPython")  # already imported in a notebook
    if ipython is None or ipython.get_ipython() is None:
        print(f"TensorBoard runs at http://localhost:{one.port}{one.path or '/'}")
        return
    ipython.display.display(ipython.display.HTML(frame(one, height)))


def frame(one: launching.Running, height: int) -> str:
    """Return the HTML of a frame with TensorBoard in it.

    Behind a proxy, set the environment variable `TENSORBOARD_PROXY_URL` to its address, with
    `%PORT%` for the port.
    """
    proxy = os.environ.get("TENSORBOARD_PROXY_URL")
    url = proxy.replace("%PORT%", str(one.port)) if proxy else one.path or "/"
    name = f"tensorboard-frame-{one.pid}-{time.monotonic_ns():x}"
    port = 0 if proxy else one.port
    return _FRAME.format(name=name, height=height, url=json.dumps(url), port=port)


def _ago(one: launching.Running) -> datetime.timedelta:
    return datetime.timedelta(seconds=max(0, int(time.time() - one.started)))
