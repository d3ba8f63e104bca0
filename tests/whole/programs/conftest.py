"""The programs have a command of their own, see README.md."""

collect_ignore = ["stand_ins"]
