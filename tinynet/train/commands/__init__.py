"""The commands of ``tinynet``, in one file per subject.

A command is a function with a declaration (`options.declare`): its name, help and arguments. Its
docstring is the description. To add a command, write it in the file of its subject, and add it to
`COMMANDS`.
"""

from tinynet.train.commands.finders import find_batch_size_command, find_lr_command
from tinynet.train.commands.inference import export_command, generate_command, predict_command
from tinynet.train.commands.inspection import (
    check_command,
    explain_command,
    graph_command,
    list_command,
    profile_command,
    show_command,
)
from tinynet.train.commands.reports import board_command, report_command
from tinynet.train.commands.run import (
    eval_command,
    new_command,
    resume_command,
    test_run_command,
    train_command,
)
from tinynet.train.commands.studies import cross_validate_command, search_command, sweep_command

COMMANDS = (
    new_command,
    train_command,
    resume_command,
    eval_command,
    predict_command,
    generate_command,
    check_command,
    test_run_command,
    show_command,
    profile_command,
    graph_command,
    find_lr_command,
    find_batch_size_command,
    sweep_command,
    search_command,
    cross_validate_command,
    report_command,
    board_command,
    export_command,
    list_command,
    explain_command,
)
"""The commands, in the order of the help."""
