"""Functions of Pillow images and tensors, for ``torchvision.transforms.functional``."""
