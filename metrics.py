def margin(outputs, targets):
    """The distance between the two largest scores."""
    two = outputs.topk(2).values
    distance = two[:, 0] - two[:, 1]
    return {"mean": distance.mean(), "least": distance.min()}


class FBeta:
    """F-beta of one class."""

    higher_is_better = True

    def __init__(self, wanted: int, beta: float = 1.0):
        self.wanted, self.beta = wanted, beta
        self.right = self.found = self.true = 0

    def update(self, outputs, targets):
        found, true = outputs.argmax(1) == self.wanted, targets == self.wanted
        self.right += (found & true).sum().item()
        self.found += found.sum().item()
        self.true += true.sum().item()

    def compute(self):
        weight = self.beta**2
        return (1 + weight) * self.right / max(self.found + weight * self.true, 1)
