"""Programs that tinynet does not answer yet, each with what is missing.

A program that passes must be struck from the list: the test says so.
"""

WAITING: dict[str, tuple[str, ...]] = {}

PENDING = {program: reason for reason, programs in WAITING.items() for program in programs}
