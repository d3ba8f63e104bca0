"""``torchvision.models``: AlexNet, MobileNet, ResNet and VGG, with torchvision's names."""

from tinynet.compat.vision.models.mobilenet import *
from tinynet.compat.vision.models.plain import *
from tinynet.compat.vision.models.resnet import *
