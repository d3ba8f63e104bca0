"""``torchvision.models``: AlexNet, VGG and ResNet with the names of torchvision's parameters."""

from tinynet.compat.vision.models.plain import *
from tinynet.compat.vision.models.resnet import *
