"""Each in-place operation on a strided view: values, versions, first and second derivatives."""

from tests.tools.recorded.programs import Family

program = Family(__name__)

WRITES = {
    "add_": lambda T, v, w: v.add_(w),
    "add_scaled_": lambda T, v, w: v.add_(w, alpha=3),
    "sub_": lambda T, v, w: v.sub_(w),
    "mul_": lambda T, v, w: v.mul_(w),
    "mul_by_number_": lambda T, v, w: v.mul_(3),
    "div_": lambda T, v, w: v.div_(w),
    "div_by_number_": lambda T, v, w: v.div_(4),
    "pow_": lambda T, v, w: v.pow_(3),
    "pow_by_tensor_": lambda T, v, w: v.pow_(w),
    "exp_": lambda T, v, w: v.exp_(),
    "log_": lambda T, v, w: v.log_(),
    "sqrt_": lambda T, v, w: v.sqrt_(),
    "rsqrt_": lambda T, v, w: v.rsqrt_(),
    "reciprocal_": lambda T, v, w: v.reciprocal_(),
    "square_": lambda T, v, w: v.square_(),
    "sin_": lambda T, v, w: v.sin_(),
    "cos_": lambda T, v, w: v.cos_(),
    "tanh_": lambda T, v, w: v.tanh_(),
    "sigmoid_": lambda T, v, w: v.sigmoid_(),
    "relu_": lambda T, v, w: v.relu_(),
    "neg_": lambda T, v, w: v.neg_(),
    "abs_": lambda T, v, w: v.abs_(),
    "clamp_": lambda T, v, w: v.clamp_(1.5, 3.0),
    "copy_": lambda T, v, w: v.copy_(w),
    "copy_of_a_product_": lambda T, v, w: v.copy_(v.clone() * w),
    "fill_": lambda T, v, w: v.fill_(2.0),
    "fill_by_tensor_": lambda T, v, w: v.fill_(w[0]),
    "zero_": lambda T, v, w: v.zero_(),
    "masked_fill_": lambda T, v, w: v.masked_fill_(T.tensor([True, False]), 7.0),
    "index_fill_": lambda T, v, w: v.index_fill_(0, T.tensor([1]), 7.0),
    "index_add_": lambda T, v, w: v.index_add_(0, T.tensor([1, 1]), w),
    "scatter_": lambda T, v, w: v.scatter_(0, T.tensor([1, 0]), w),
    "scatter_add_": lambda T, v, w: v.scatter_add_(0, T.tensor([1, 1]), w),
    "an_assignment_by_slice": lambda T, v, w: v.__setitem__(slice(1, None), w[:1]),
    "an_assignment_by_list": lambda T, v, w: v.__setitem__([1, 0], w),
    "an_assignment_by_mask": lambda T, v, w: v.__setitem__(v > 2.5, w[1]),
    "an_assignment_of_all": lambda T, v, w: v.__setitem__(slice(None), w * w),
    "mul_by_itself_": lambda T, v, w: v.mul_(v.clone()),
    "two_in_a_row": lambda T, v, w: v.mul_(w).exp_(),
}


def on_a_column(write):
    def written(T):
        x = T.tensor([[1.0, 2.0], [2.0, 3.0]], dtype=T.float64, requires_grad=True)
        w = T.tensor([2.0, 0.5], dtype=T.float64, requires_grad=True)
        y = x * x
        v = y.t()[1]
        write(T, v, w)
        inputs = [x, w]
        first = T.autograd.grad((y * y).sum(), inputs, create_graph=True, allow_unused=True)
        d_1 = [None if d is None else d.detach() for d in first]
        total = sum((d * d).sum() for d in first if d is not None)
        d_2 = T.autograd.grad(total, inputs, allow_unused=True, materialize_grads=True)
        return {"x": x, "w": w, "y": y, "v": v, "d_1": d_1, "d_2": d_2}

    return written


for _name, _write in WRITES.items():
    program.add(f"{_name}_on_a_column".replace("__", "_"), on_a_column(_write))
