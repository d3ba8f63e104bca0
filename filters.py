from tinynet import nn


class Filters:
    """The weights of the first convolution, as images.

    Args:
        tag: what TensorBoard calls them.
    """

    def __init__(self, tag: str = "filters"):
        self.tag = tag

    def show(self, at):
        layers = [m for m in at.model.modules() if isinstance(m, nn.Conv2d)]
        if not layers or layers[0].in_channels not in (1, 3):
            raise ValueError("the model must begin with a Conv2d of 1 or 3 channels")
        weight = layers[0].weight
        shown = (weight - weight.min()) / (weight.max() - weight.min())
        at.writer.add_images(self.tag, shown, at.step)
