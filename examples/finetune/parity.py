"""The digits of tinynet, with another question: is the digit odd?"""

from tinynet.data import Dataset, Digits


class Parity(Dataset):
    """The handwritten digits, with the targets 0 for even and 1 for odd ones.

    Args:
        train: whether these are the images for training.
    """

    classes = ("even", "odd")

    def __init__(self, train: bool = True):
        self.digits = Digits(train)

    def __len__(self):
        return len(self.digits)

    def __getitem__(self, index):
        image, label = self.digits[index]
        return image, label % 2
