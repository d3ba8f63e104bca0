"""Calls of torchvision's functions and classes, for torchvision itself and for tinynet."""

import numpy as np

RANDOM = np.random.default_rng(0)
PIXELS = np.kron(RANDOM.integers(0, 256, (3, 4, 3)), np.ones((2, 2, 1))).astype(np.uint8)
PIXELS += RANDOM.integers(0, 9, PIXELS.shape).astype(np.uint8) * (PIXELS < 240)

CORNERS = [[0, 0], [7, 0], [7, 5], [0, 5]]
DISTANCES = RANDOM.uniform(-0.4, 0.4, (1, 6, 8, 2)).astype(np.float32)

# The name of a function, and its arguments after the image; texts are interpolations or modes.
FUNCTIONS = [
    ("hflip",),
    ("vflip",),
    ("crop", 1, 2, 3, 4),
    ("crop", -1, -2, 9, 12),
    ("crop", 5, 6, 3, 4),
    ("pad", 1),
    ("pad", [1, 2, 0, 3], 7),
    ("pad", 2, 0, "edge"),
    ("pad", 2, 0, "reflect"),
    ("pad", 2, 0, "symmetric"),
    ("center_crop", 3),
    ("center_crop", [9, 5]),
    ("resize", 4),
    ("resize", [9, 5]),
    ("resize", 4, "bilinear", 5),
    ("resize", [5, 7], "nearest"),
    ("resize", [5, 7], "nearest-exact"),
    ("resize", [5, 7], "bicubic"),
    ("resize", [5, 4], "bilinear", None, False),
    ("resized_crop", 1, 1, 5, 4, [3, 3]),
    ("rotate", 33),
    ("rotate", 33, "bilinear"),
    ("rotate", 33, "nearest", True),
    ("rotate", 20, "nearest", False, [3, 4], 5),
    ("affine", 20, [2, 1], 1.2, [5.0, 3.0]),
    ("affine", 20, [2, 1], 0.8, [5.0, 3.0], "bilinear", 9),
    ("affine", -10, [0, 1], 1.0, [0.0, 0.0], "nearest", None, [4, 5]),
    ("perspective", CORNERS, [[1, 0], [6, 1], [7, 4], [0, 5]]),
    ("perspective", CORNERS, [[2, 2], [7, 0], [7, 3], [2, 5]], "nearest", 5),
    ("perspective", CORNERS, [[2, 0], [7, 1], [7, 5], [1, 5]], "bilinear", [9, 8, 7]),
    ("elastic_transform", DISTANCES),
    ("elastic_transform", DISTANCES, "bilinear", [9.0, 8.0, 7.0]),
    ("elastic_transform", DISTANCES, "nearest", 3.0),
    ("gaussian_blur", 3),
    ("gaussian_blur", [3, 5], [1.0, 2.0]),
    ("adjust_brightness", 1.4),
    ("adjust_contrast", 0.6),
    ("adjust_saturation", 1.7),
    ("adjust_hue", 0.2),
    ("adjust_hue", -0.3),
    ("adjust_gamma", 0.7, 1.1),
    ("adjust_sharpness", 1.8),
    ("invert",),
    ("posterize", 3),
    ("solarize", 100),
    ("autocontrast",),
    ("equalize",),
    ("rgb_to_grayscale",),
    ("rgb_to_grayscale", 3),
    ("get_dimensions",),
    ("get_image_size",),
    ("five_crop", 3),
    ("ten_crop", 3, True),
    ("to_tensor",),
    ("pil_to_tensor",),
]
WITH_FLOATS = (
    *("resize", "rotate", "affine", "gaussian_blur", "adjust_hue", "pad"),
    *("perspective", "elastic_transform"),
)
OF_PILLOW = ("to_tensor", "pil_to_tensor")
# Operations of automatic augmentation with magnitudes, interpolations and values outside.
OPERATIONS = [
    *((name, x, "nearest", None) for name in ("ShearX", "ShearY") for x in (0.3, -0.99)),
    *((name, x, "bilinear", 7) for name in ("ShearX", "ShearY") for x in (0.3, -0.2)),
    *((name, x, "nearest", 3) for name in ("TranslateX", "TranslateY") for x in (2.9, -1.5)),
    *(("Rotate", x, mode, None) for x in (30.0, -17.0) for mode in ("nearest", "bilinear")),
    *(
        (name, x, "nearest", None)
        for name in ("Brightness", "Color", "Contrast", "Sharpness")
        for x in (0.9, -0.45)
    ),
    *(("Posterize", x, "nearest", None) for x in (8.0, 5.0, 2.0)),
    *(("Solarize", x, "nearest", None) for x in (255.0, 101.99, 0.0)),
    *((name, 0.0, "nearest", None) for name in ("AutoContrast", "Equalize", "Invert", "Identity")),
]
# Transforms, and the arguments of their tables of magnitudes.
SPACES = [
    ("T.RandAugment()", 31, (32, 48)),
    ("T.RandAugment()", 11, (28, 28)),
    ("T.TrivialAugmentWide()", 31),
    ("T.AutoAugment()", 10, (32, 48)),
    ("T.AugMix()", 10, (32, 48)),
    ("T.AugMix(all_ops=False)", 10, (32, 48)),
]
GRIDS = [
    {},
    {"nrow": 4, "padding": 1, "pad_value": 0.5},
    {"normalize": True, "scale_each": True},
    {"normalize": True, "value_range": (0.2, 0.5)},
]
# Expressions; `t` is a function that makes a tensor.
SHOWN = [
    "T.Compose([T.ToTensor(), T.Normalize((0.1307,), (0.3081,))])",
    "T.PILToTensor()",
    "T.ConvertImageDtype(torch.float32)",
    "T.ToPILImage()",
    "T.ToPILImage('RGB')",
    "T.Lambda(abs)",
    "T.Resize(32)",
    "T.Resize((3, 4), T.InterpolationMode.BICUBIC)",
    "T.CenterCrop(8)",
    "T.FiveCrop(8)",
    "T.TenCrop((8, 9))",
    "T.Pad(2)",
    "T.RandomCrop(8)",
    "T.RandomCrop((3, 4), 2)",
    "T.RandomHorizontalFlip()",
    "T.RandomVerticalFlip(0.3)",
    "T.RandomResizedCrop(8)",
    "T.RandomRotation(30)",
    "T.RandomRotation(3, center=(1, 1))",
    "T.RandomAffine(30)",
    "T.RandomAffine(3, (0.1, 0.1), (0.9, 1.1), 3)",
    "T.RandomAffine(3, shear=(1, 2, 3, 4), fill=3, interpolation=T.InterpolationMode.BILINEAR)",
    "T.ColorJitter(0.1, 0.2, 0.3, 0.4)",
    "T.ColorJitter()",
    "T.Grayscale()",
    "T.RandomGrayscale()",
    "T.RandomInvert()",
    "T.RandomPosterize(3)",
    "T.RandomSolarize(0.5)",
    "T.RandomAdjustSharpness(2)",
    "T.RandomAutocontrast()",
    "T.RandomEqualize()",
    "T.RandomErasing()",
    "T.GaussianBlur(3)",
    "T.LinearTransformation(torch.eye(2), torch.zeros(2))",
    "T.RandomApply([T.ToTensor()])",
    "T.RandomChoice([T.ToTensor()])",
    "T.RandomOrder([T.ToTensor()])",
    "T.RandomPerspective()",
    "T.ElasticTransform(30.0, [1.0, 2.0], fill=(1, 2, 3))",
    "v2.RandomPerspective(0.3)",
    "v2.ElasticTransform()",
    "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])",
    "v2.Resize(32)",
    "v2.Resize((3, 4))",
    "v2.RandomCrop(3, 2)",
    "v2.RandomAffine(3, (0.1, 0.1), (0.9, 1.1), 3)",
    "v2.RandomHorizontalFlip()",
    "v2.Normalize([0.5], [0.25])",
    "v2.Lambda(abs)",
    "v2.ColorJitter(0.1, 0.2, 0.3, 0.4)",
    "v2.CutMix(num_classes=3)",
    "T.AutoAugment()",
    "T.AutoAugment(T.AutoAugmentPolicy.CIFAR10, fill=3)",
    "T.RandAugment()",
    "T.RandAugment(3, 5, 11, T.InterpolationMode.BILINEAR, [1, 2, 3])",
    "T.TrivialAugmentWide()",
    "T.AugMix()",
    "v2.RandAugment()",
    "v2.TrivialAugmentWide(11)",
    "v2.AutoAugment(v2.AutoAugmentPolicy.SVHN)",
    "v2.AugMix(2)",
    "D.FakeData(3, transform=T.Compose([T.ToTensor()]), target_transform=T.Lambda(int))",
    "M.ResNet18_Weights.DEFAULT.transforms()",
]
MODELS = ["resnet18", "resnet34", "resnet50", "alexnet"]
LARGE = ["vgg11", "vgg13_bn"]  # half a gigabyte each
WEIGHTS = [
    *(f"ResNet{n}_Weights" for n in (18, 34, 50, 101, 152)),
    *(f"VGG{n}{norm}_Weights" for n in (11, 13, 16, 19) for norm in ("", "_BN")),
    "AlexNet_Weights",
]


def plain(value):
    """A result as JSON."""
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if hasattr(value, "getbands"):
        return [value.mode, np.asarray(value).tolist()]
    return value.tolist() if hasattr(value, "tolist") else value


def images(torch, image):
    """The same pixels as a Pillow image, as a gray one, and as tensors of bytes and floats."""
    pixels = torch.tensor(PIXELS.transpose(2, 0, 1).copy())
    return {
        "pillow": image.fromarray(PIXELS),
        "gray": image.fromarray(PIXELS[..., 0].copy()),
        "bytes": pixels,
        "floats": pixels / 255,
    }


def called(torch, functional, call, image):
    """The result of a call of `FUNCTIONS`."""
    name, *arguments = call
    modes = {mode.value: mode for mode in functional.InterpolationMode}
    chosen = [modes.get(a, a) if isinstance(a, str) else a for a in arguments]
    chosen = [torch.tensor(a) if isinstance(a, np.ndarray) else a for a in chosen]
    return plain(getattr(functional, name)(image, *chosen))


def operated(apply, operation, image, transforms):
    """What an operation of automatic augmentation returns for an image."""
    name, magnitude, mode, fill = operation
    return plain(apply(image, name, magnitude, transforms.InterpolationMode(mode), fill))


def suits(call, kind):
    """Whether a function takes this kind of image."""
    if call[0] in OF_PILLOW:
        return kind in ("pillow", "gray")
    if call[-1] is False:  # Pillow always averages, which torchvision warns about
        return kind in ("bytes", "floats")
    if kind == "floats":
        return call[0] in WITH_FLOATS
    return kind != "gray" or call[0] in ("resize", "pad", "rotate", "adjust_contrast", "equalize")


def batch(torch):
    """Ten images for a grid."""
    return torch.arange(10 * 3 * 2 * 2).reshape(10, 3, 2, 2) / 120
