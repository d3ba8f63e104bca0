"""Runs a program as in Pyodide: `python -S like_pyodide.py PROGRAM [MODULE ...]`.

The test runs it without any package but numpy; here threads and processes go away. So it was
measured in the npm package pyodide 314.0.7 (Python 3.14 in WebAssembly, under node): `threading`,
`subprocess` and `multiprocessing` can be imported, but nothing can be started. The modules that are
named are taken away, too.
"""

import os
import runpy
import subprocess
import sys
import threading

import numpy  # noqa: F401  (what it needs for itself is its own affair)


def refuse_a_thread(*arguments, **options):
    raise RuntimeError("can't start new thread")


def refuse_a_process(*arguments, **options):
    raise OSError(138, "emscripten does not support processes.")


threading.Thread.start = refuse_a_thread
subprocess.Popen.__init__ = refuse_a_process
os.fork = refuse_a_process
os.cpu_count = lambda: 4  # more than Pyodide's 1: so that somebody may want threads
program, *gone = sys.argv[1:]
for name in gone:
    for loaded in [n for n in sys.modules if n.partition(".")[0] == name]:
        del sys.modules[loaded]
    sys.modules[name] = None  # then importing it fails
runpy.run_path(program, run_name="__main__")
