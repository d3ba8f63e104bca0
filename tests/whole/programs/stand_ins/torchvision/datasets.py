"""Data sets of random pictures, each class with a pattern of its own."""

import numpy as np
import torch
from PIL import Image

COUNT = 512


class VisionDataset(torch.utils.data.Dataset):
    """Pictures with labels; what is given to the constructor of a real data set is accepted."""

    shape, count_of_classes = (32, 32, 3), 10

    def __init__(
        self, root=None, *args, train=True, transform=None, target_transform=None, **options
    ):
        self.root, self.train = root, train
        self.transform, self.target_transform = transform, target_transform
        self.classes = [str(n) for n in range(self.count_of_classes)]
        self.class_to_idx = {name: n for n, name in enumerate(self.classes)}
        rng = np.random.default_rng(0)
        patterns = rng.integers(0, 200, (self.count_of_classes, *self.shape))
        labels = rng.integers(0, self.count_of_classes, COUNT)
        noise = rng.integers(0, 56, (COUNT, *self.shape))
        self.data = (patterns[labels] + noise).astype(np.uint8)
        self.targets = labels.tolist()
        self.keep()

    def keep(self):
        """Bring data and targets to the form that the real data set has them in."""

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        image, label = Image.fromarray(np.asarray(self.data[index])), int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label


class MNIST(VisionDataset):
    """Grey pictures of 28 by 28."""

    shape = (28, 28)

    def keep(self):
        self.data, self.targets = torch.from_numpy(self.data), torch.tensor(self.targets)
        self.train_data = self.test_data = self.data
        self.train_labels = self.test_labels = self.targets


class FashionMNIST(MNIST):
    """As MNIST."""


class KMNIST(MNIST):
    """As MNIST."""


class EMNIST(MNIST):
    """As MNIST."""


class CIFAR10(VisionDataset):
    """Coloured pictures of 32 by 32."""


class CIFAR100(VisionDataset):
    """The same with 100 classes."""

    count_of_classes = 100


class SVHN(VisionDataset):
    """As CIFAR10."""


class STL10(VisionDataset):
    """Coloured pictures of 96 by 96."""

    shape = (96, 96, 3)


class ImageFolder(VisionDataset):
    """Coloured pictures of 64 by 64; the folder is not looked at."""

    shape, count_of_classes = (64, 64, 3), 2

    def __init__(self, root=None, transform=None, target_transform=None, **options):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.imgs = self.samples = [(f"{n}.png", t) for n, t in enumerate(self.targets)]


class LSUN(ImageFolder):
    """As ImageFolder."""

    def __init__(self, root=None, classes=None, transform=None, target_transform=None, **options):
        super().__init__(root, transform, target_transform)


class CelebA(ImageFolder):
    """As ImageFolder."""

    def __init__(
        self,
        root=None,
        split="train",
        target_type="attr",
        transform=None,
        target_transform=None,
        download=False,
    ):
        super().__init__(root, transform, target_transform)


class FakeData(VisionDataset):
    """Random pictures of a size."""

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, **rest):
        self.shape = (*image_size[1:], image_size[0])
        self.count_of_classes = num_classes
        super().__init__(transform=transform)
