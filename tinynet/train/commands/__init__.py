"""The commands of ``tinynet``, one file each.

Each file has ``add_parser``, which declares the arguments, and ``run_command``, which runs the
command and returns the exit code. To add a command, add a file and its name in `COMMANDS`.
"""

from tinynet.train.commands import (
    board,
    check,
    evaluate,
    explain,
    export,
    graph,
    listing,
    predict,
    resume,
    show,
    sweep,
    train,
)

COMMANDS = (
    train,
    resume,
    evaluate,
    predict,
    check,
    show,
    graph,
    sweep,
    board,
    export,
    listing,
    explain,
)
