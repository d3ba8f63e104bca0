"""A terminal of any size, and what is on its screen at the end and in between."""

import os
import select
import signal
import struct
import time
from itertools import pairwise

from .test_cli import ENVIRONMENT, PROGRAM


def on_a_terminal(arguments, folder, columns=120, variables=(), seconds=240):
    """What a program writes to a terminal, and its exit code."""
    import fcntl
    import pty
    import termios

    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        os.chdir(folder)
        own = {**ENVIRONMENT, "TERM": "xterm", **dict(variables)}
        os.execve(PROGRAM[0], [*PROGRAM, *arguments], own)
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:  # the other side has closed it
                break
    else:
        os.kill(process, signal.SIGKILL)
    os.close(terminal)
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Screen:
    """The lines of a terminal, as its text arrives; a longer line continues on the next one.

    Attributes:
        lines: the lines from the first on; trailing spaces are left out.
        drawn: every text that a line had when the cursor returned to its beginning.
        wrapped: the lines that continued another one.
    """

    def __init__(self, text, columns):
        self.lines, self.drawn, self.wrapped = [""], [], []
        place = 0
        for before, character in pairwise(" " + text):
            if character == "\r":
                place = 0
                self.drawn.append(self.lines[-1].rstrip())
            elif character == "\n":
                assert before == "\r"
                self.lines.append("")
            else:
                assert character.isprintable(), repr(character)  # no escape sequence
                if place == columns:
                    self.wrapped.append(len(self.lines))
                    self.lines.append("")
                    place = 0
                line = self.lines[-1].ljust(place)
                self.lines[-1] = line[:place] + character + line[place + 1 :]
                place += 1
        self.lines = [line.rstrip() for line in self.lines]
        while self.lines and not self.lines[-1]:
            self.lines.pop()
