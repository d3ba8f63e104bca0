class GradientNorm:
    """The mean norm of the gradients of each epoch; ends a run whose gradients vanish.

    Args:
        least: the norm below which the run ends.
    """

    def __init__(self, least: float = 1e-6):
        self.least, self.norms = least, []

    def on_step_end(self, at):
        squares = sum(p.grad.square().sum().item() for p in at.model.parameters())
        self.norms.append(squares**0.5)

    def on_epoch_end(self, at):
        mean = sum(self.norms) / len(self.norms)
        at.writer.add_scalar("gradient_norm", mean, at.epoch)
        print(f"epoch {at.epoch}: {len(self.norms)} steps")
        self.norms = []
        if mean < self.least:
            at.stop(f"the gradients have vanished: {mean:.3g}")

    def state_dict(self):
        return {"norms": self.norms}

    def load_state_dict(self, state):
        self.norms = state["norms"]
