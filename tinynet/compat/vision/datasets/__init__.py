"""``torchvision.datasets``: data sets of images in local files. tinynet downloads nothing."""

from tinynet.compat.vision.datasets.base import StandardTransform as StandardTransform
from tinynet.compat.vision.datasets.base import VisionDataset as VisionDataset
from tinynet.compat.vision.datasets.fake import FakeData as FakeData
from tinynet.compat.vision.datasets.folders import IMG_EXTENSIONS as IMG_EXTENSIONS
from tinynet.compat.vision.datasets.folders import DatasetFolder as DatasetFolder
from tinynet.compat.vision.datasets.folders import ImageFolder as ImageFolder
from tinynet.compat.vision.datasets.folders import default_loader as default_loader
from tinynet.compat.vision.datasets.folders import pil_loader as pil_loader
from tinynet.compat.vision.datasets.in_memory import CIFAR10 as CIFAR10
from tinynet.compat.vision.datasets.in_memory import CIFAR100 as CIFAR100
from tinynet.compat.vision.datasets.in_memory import KMNIST as KMNIST
from tinynet.compat.vision.datasets.in_memory import MNIST as MNIST
from tinynet.compat.vision.datasets.in_memory import FashionMNIST as FashionMNIST
