"""The rows of `samples.SAMPLES` for order, running sums, rearrangement and choice."""

from .samples import f, sample

for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).expanded):
    sample("softmax_backward log_softmax_backward", _spec, f(2, 3), -1)
    sample("softmax_backward log_softmax_backward", _spec, f(2, 3), 0)
sample("softmax_backward log_softmax_backward", f(), f(), 0)
sample("softmax_backward log_softmax_backward", f(0, 3), f(0, 3), 1)
