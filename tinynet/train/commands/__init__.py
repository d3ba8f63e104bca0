"""The commands of ``tinynet``, a file each.

Each has ``add``, which tells argparse what it takes, and ``run``, which does it and returns the
exit code. A new command is a new file and a name in `COMMANDS`.
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
