"""The commands of ``tinynet``, one file each.

Each file declares its command: name, help, arguments, and the function ``run_command``, whose
docstring is the description. To add a command, add a file, and its name to `_FILES`.
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

_FILES = (
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
COMMANDS = tuple(file.run_command for file in _FILES)
"""The commands, in the order of the help."""
