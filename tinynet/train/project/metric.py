"""A metric: how sure the model is of its predictions."""

import tinynet as tn


def confidence(outputs: tn.Tensor, targets: tn.Tensor) -> tn.Tensor:
    """Return the mean probability of the predicted classes.

    Args:
        outputs: all outputs of the model, here scores ``[examples, 2]``.
        targets: all targets, here classes ``[examples]``.
    """
    return outputs.softmax(1).amax(1).mean()
