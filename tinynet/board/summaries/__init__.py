"""The `add_...` methods of SummaryWriter, one family per file.

A family checks its arguments, computes what TensorBoard displays, and returns one event; the writer
handles files, queues and failures. `checks` validates arguments, `family` is the base class, `png`
encodes images without a library.
"""
