"""The rows of `samples.SAMPLES` for the operations that layers and losses declare."""

from .samples import f, i, layouts, sample

PIECEWISE = f(2, 3).of(-4.1, -1.3, -0.4, 0.6, 1.7, 3.4)
for _args in layouts(PIECEWISE):
    sample("leaky_relu", *_args, 0.1)
    sample("hardtanh", *_args, -1.0, 2.0)
    sample("hardsigmoid hardswish silu mish gelu gelu_tanh log_sigmoid", *_args)
    sample("threshold", *_args, 0.5, -2.0)
    sample("elu", *_args, 1.3, 1.1, 0.9)
    sample("celu", *_args, 0.8)
    sample("softplus", *_args, 1.5, 4.0)
    sample("prelu", *_args, f())
    sample("hardshrink softshrink", *_args, 0.5)

# ---- derivatives that create_graph records as operations ----------------------------------------

# A gradient, then what the operation's formula saves.
G = f(2, 3)
sample("tanh_backward sigmoid_backward", G, f(2, 3))
sample("prelu_backward", G, PIECEWISE, f())
sample("prelu_backward_of_weight", G, PIECEWISE)
sample("leaky_relu_backward", G, PIECEWISE, 0.1)
sample("hardtanh_backward", G, PIECEWISE, -1.0, 2.0)
sample("hardswish_backward log_sigmoid_backward gelu_tanh_backward", G, PIECEWISE)
sample("threshold_backward hardshrink_backward softshrink_backward", G, PIECEWISE, 0.5)
sample("elu_backward", G, PIECEWISE, 1.3, 1.1, 0.9)
sample("softplus_backward", G, PIECEWISE, 1.5, 4.0)
sample("likelihood_backward", f(), i(0, 3, 1), (3, 4), -100, "mean")
sample("likelihood_of_places_backward", f(2, 2), i([[0, 2], [1, 0]]), (2, 3, 2), 0, "none")
for _reduction in ("mean", "none"):
    _g = f() if _reduction == "mean" else G
    sample("squared_error_backward", _g, f(2, 3), f(2, 3), _reduction)
    sample("smooth_error_backward", _g, PIECEWISE, f(2, 3), _reduction, 0.9)
    sample("huber_error_backward", _g, PIECEWISE, f(2, 3), _reduction, 0.9)
    sample("binary_entropy_backward", _g, f(2, 3).of(0.2, 0.7), f(2, 3).of(0.4), _reduction)
sample("prelu", f(2, 3), f(3))
SLOPES = i([[1, 2, 1], [3, 1, 2]])
for _input in (f(2, 3), f(2, 3).transposed, f(2, 3).strided, f(2, 3).expanded):
    sample("rrelu_with_noise", _input, SLOPES)
sample("rrelu_with_noise", f(), i(2))
sample("rrelu_with_noise", f(0, 3), i([]).reshape(0, 1))
sample("glu", f(2, 4), 1)
sample("glu", f(4, 3).transposed, 0)
sample("glu", f(2, 6, 2).strided, 1)
sample("glu", f(3, 4).expanded, 1)
sample("glu", f(0, 2), 1)

for _bias in (f(2), f(1), f()):
    sample("affine_map", f(4, 3), f(2, 3), _bias)
for _input, _weight in (
    (f(4, 3).transposed, f(2, 3).strided),
    (f(4, 3).expanded, f(2, 3).expanded),
    (f(2, 2, 3), f(2, 3)),
    (f(3), f(2, 3)),
    (f(0, 3), f(2, 3)),
):
    sample("linear_map", _input, _weight)
    sample("affine_map", _input, _weight, f(2))

PLACES = i([[0, 2, 2], [1, 2, 0]])
sample("embedding_rows", f(4, 2), PLACES, -1, False)  # other options bend the gradient on purpose
for _padding, _frequency in ((-1, False), (2, False), (-1, True), (0, True)):
    sample("weighted_rows", f(4, 2), PLACES, _padding, _frequency)
    sample("summed_rows", f(2, 3, 2), PLACES, 4, _padding, _frequency)
    sample("kept_rows", f(2, 3, 2), PLACES, 4, _padding)
sample("embedding_rows", f(4, 2).transposed, i(1), -1, False)
for _bags in ([0, 0, 2], [1, 1, 1], [0, 1, 2]):
    sample("summed_bags", f(4, 2), i(2, 0, 2), i(*_bags), 3, False, False)
    sample("weighted_bags", f(4, 2), f(3), i(2, 0, 2), i(*_bags), 3, False, False)
sample("embedding_rows", f(4, 2), i([]), -1, False)

for _reduction in ("mean", "sum", "none"):
    sample("squared_error entropy_of_logits", f(2, 3), f(2, 3).transposed, _reduction)
    sample("squared_error", f(2, 3), f(3), _reduction)
    sample("squared_error", f(), f(), _reduction)
    sample("squared_error", f(0, 3), f(0, 3), _reduction)
    sample("smooth_error huber_error", PIECEWISE, f(2, 3).transposed, _reduction, 1.1)
    sample("smooth_error huber_error", PIECEWISE, f(3), _reduction, 1.1)
    sample("likelihood", f(3, 4), i(0, 3, 1), -100, _reduction)
    sample("likelihood", f(4), i(2), -100, _reduction)
    sample("likelihood_of_places", f(2, 3, 2), i([[0, 2], [1, 0]]), 0, _reduction)
    sample("indexed_cross_entropy", f(3, 4), i(0, 3, 1), -100, _reduction)
    sample("indexed_cross_entropy", f(3, 4).transposed, i(0, -1, 1), -1, _reduction)
sample("indexed_cross_entropy", f(0, 4), i([]), -100, "sum")
for _args in layouts(f(2, 3).of(0.2, 0.7, 0.5, 0.35, 0.9, 0.6)):
    sample("binary_entropy", *_args, f().of(0.4), "none")
sample("binary_entropy", f(3).of(0.2, 0.7, 0.5), f(3).of(0, 1, 0.3), "mean")

sample("constant_pad", f(2, 3), (1, 2), 0.5)
sample("constant_pad", f(2, 3).transposed, (1, -1, 0, 1), 0.0)
sample("constant_pad", f(0, 3), (1, 1, 1, 0), 1.0)
sample("constant_pad", f(), (), 1.0)
