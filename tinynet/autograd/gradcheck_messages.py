"""What ``gradcheck`` reports, in PyTorch's words."""

SINGLE_PRECISION = (
    "Input #{} requires gradient and is not a double precision floating point or complex. This "
    "check will likely fail if all the inputs are not of double precision floating point or "
    "complex. "
)
OVERLAP = (
    "The {}th input has a dimension with stride 0. gradcheck only supports inputs that are "
    "non-overlapping to be able to compute the numerical gradients correctly. You should call "
    ".contiguous on the input before passing it to gradcheck."
)
MISMATCH = (
    "Jacobian mismatch for output {} with respect to input {},\nnumerical:{}\nanalytical:{}\n"
)
IN_FAST_MODE = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \nin "
    "fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {}\nAnalytical:\n{}\n\n"
    "The max per-element difference (slow mode) is: {}.\n"
)
ONLY_IN_FAST_MODE = (
    "Fast gradcheck failed but element-wise differences are small. This means that the\n"
    "test might've passed in slow_mode! Try fast_mode=False."
)
OF_A_PART = "While considering the {} part of complex outputs only, "
NOT_BATCHED = "gradcheck or gradgradcheck failed while testing batched gradient computation."
UNDEFINED_CHECKED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by "
    "default, but it may break existing callers of this function. If this is true for you, you "
    'can call this function with "check_undefined_grad=False" to disable the feature'
)
UNHANDLED = "Expected backward function to handle undefined output grads."
NOT_ZERO = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
)
