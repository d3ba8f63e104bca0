"""The `add_...` methods of SummaryWriter, one family per file.

A family checks its arguments, computes what TensorBoard displays, and returns one event; the writer
handles files, queues and failures. `family` has the base class, and validates arguments; `pixels`
encodes images without a library.
"""
