"""The commands of ``tinynet``, one file each.

Each file has its ``NAME``, ``HELP`` and ``DESCRIPTION``. ``add_arguments`` declares the arguments;
``run_command`` runs the command and returns the exit code. ``TRAINS = True`` lets a command finish
even if its output is closed. ``shares_work(arguments)`` returns whether all processes of ``mpirun``
take part; without it, the first one runs the command alone. To add a command, add a file, and its
name to `COMMANDS`.
"""

from tinynet.train.commands import (
    board,
    check,
    cross_validate,
    evaluate,
    explain,
    export,
    find_batch_size,
    find_lr,
    generate,
    graph,
    listing,
    new,
    predict,
    profile,
    report,
    resume,
    search,
    show,
    sweep,
    test_run,
    train,
)

COMMANDS = (
    new,
    train,
    resume,
    evaluate,
    predict,
    generate,
    check,
    test_run,
    show,
    profile,
    graph,
    find_lr,
    find_batch_size,
    sweep,
    search,
    cross_validate,
    report,
    board,
    export,
    listing,
    explain,
)
