"""What a SummaryWriter can write, one family of `add_...` methods per file.

A family checks its arguments, computes what TensorBoard shows, and hands over one event; files,
queues and failures are the writer's. `checks` refuses bad arguments, `family` is the base, `png`
makes pictures without a library.
"""
