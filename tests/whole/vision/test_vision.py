"""Random transforms, samples, data sets, weights and files."""

import os
import pickle

import numpy as np
import pytest
from PIL import Image

import tinynet as tn
from tests.whole.vision.calls import PIXELS
from tests.whole.vision.files import write_mnist
from tinynet import nn
from tinynet.compat.vision import datasets, models, pillow, utils
from tinynet.compat.vision import transforms as T
from tinynet.compat.vision.transforms import functional as F
from tinynet.compat.vision.transforms import v2

PILLOW = Image.fromarray(PIXELS)
TENSOR = tn.tensor(PIXELS.transpose(2, 0, 1).copy())
RANDOM_TRANSFORMS = [
    T.RandomCrop(4, padding=2),
    T.RandomCrop(12, pad_if_needed=True, padding_mode="edge"),
    T.RandomHorizontalFlip(),
    T.RandomVerticalFlip(),
    T.RandomResizedCrop(5),
    T.RandomRotation(20),
    T.RandomAffine(10, (0.1, 0.2), (0.9, 1.1), (1, 2, 3, 4)),
    T.GaussianBlur(3),
    T.RandomPerspective(),
    T.RandomPerspective(0.2, 1.0),
    T.ElasticTransform(20.0, [0.4, 0.5]),
    T.ColorJitter(0.3, 0.3, 0.3, 0.2),
    T.RandomGrayscale(0.5),
    T.RandomInvert(),
    T.RandomPosterize(3),
    T.RandomSolarize(100),
    T.RandomAdjustSharpness(2),
    T.RandomAutocontrast(),
    T.RandomEqualize(),
    T.AutoAugment(),
    T.AutoAugment(T.AutoAugmentPolicy.CIFAR10),
    T.RandAugment(),
    T.TrivialAugmentWide(),
    T.AugMix(),
    T.RandomApply([T.RandomInvert(1.0)]),
    T.RandomChoice([T.RandomInvert(1.0), T.RandomVerticalFlip(1.0)], p=[1, 2]),
    T.RandomOrder([T.RandomInvert(1.0), T.CenterCrop(4)]),
]


def seeded(function, image):
    tn.manual_seed(3)
    return function(image)


@pytest.mark.parametrize("transform", RANDOM_TRANSFORMS, ids=lambda t: type(t).__name__)
def test_random_transforms_take_both_kinds_and_draw_the_same(transform):
    picture, tensor = seeded(transform, PILLOW), seeded(transform, TENSOR)
    assert isinstance(picture, Image.Image) and tensor.dtype is tn.uint8
    assert (*tensor.shape[1:],) == picture.size[::-1]
    assert np.array_equal(np.asarray(picture), np.asarray(seeded(transform, PILLOW)))
    apart = np.abs(np.asarray(picture).astype(int) - tensor.permute(1, 2, 0).numpy())
    # Pillow's own contrast, hue and blur differ; places do not.
    assert np.median(apart) <= 12


def test_crops_are_everywhere_and_flips_half_of_the_time():
    marked = tn.arange(36).reshape(1, 6, 6)
    corners = {int(T.RandomCrop(4)(marked)[0, 0, 0]) for _ in range(200)}
    assert corners == {row * 6 + column for row in range(3) for column in range(3)}
    flipped = sum(int(T.RandomHorizontalFlip()(marked)[0, 0, 0] == 5) for _ in range(400))
    assert 140 < flipped < 260  # six standard deviations
    with pytest.raises(ValueError, match=r"Required crop size \(9, 9\) is larger than input"):
        T.RandomCrop(9)(marked)
    padded = T.RandomCrop(6, padding=6)(tn.ones(1, 6, 6))
    assert padded.shape == (1, 6, 6)


def test_transforms_are_modules():
    chain = nn.Sequential(T.CenterCrop(4), T.ConvertImageDtype(tn.float32), T.Normalize([0.5], [2]))
    assert chain(TENSOR).shape == (3, 4, 4)
    assert isinstance(T.Compose([]), T.Compose) and not isinstance(T.ToTensor(), nn.Module)


def test_gradients_pass_or_are_refused():
    image = tn.rand(3, 6, 6, requires_grad=True)
    for function in (
        lambda x: F.normalize(x, [0.5] * 3, [0.25] * 3),
        lambda x: F.resize(F.pad(F.crop(F.hflip(F.vflip(x)), 1, 1, 4, 4), 2), [3, 5]),
    ):
        (gradient,) = tn.autograd.grad(function(image).sum(), image)
        assert gradient.abs().sum() > 0
    with pytest.raises(NotImplementedError, match="tinynet's rotate records no gradient: pass"):
        F.rotate(image, 20)
    with tn.no_grad():
        F.rotate(image, 20)


def test_what_is_refused():
    with pytest.raises(TypeError, match="pic should be PIL Image or ndarray. Got"):
        T.ToTensor()(TENSOR)
    with pytest.raises(TypeError, match="img should be PIL Image. Got <class 'numpy.ndarray'>"):
        T.Resize(3)(PIXELS)
    with pytest.raises(TypeError, match="img should be Tensor Image. Got"):
        T.Normalize([0.5], [0.5])(PILLOW)
    with pytest.raises(ValueError, match="unsupported with Tensor input"):
        F.resize(TENSOR, 3, T.InterpolationMode.LANCZOS)
    with pytest.raises(ValueError, match="bigger than input size"):
        F.five_crop(TENSOR, 20)
    assert F.resize(PILLOW, 3, Image.Resampling.LANCZOS).size == (4, 3)
    with pytest.warns(UserWarning, match="Anti-alias option is always applied for PIL Image"):
        F.resize(PILLOW, 3, antialias=False)


def test_images_and_tensors_there_and_back():
    assert np.array_equal(F.to_pil_image(F.to_tensor(PILLOW)), PIXELS)
    assert T.ToPILImage()(PIXELS).mode == "RGB"
    assert T.ToPILImage("HSV")(TENSOR).getpixel((0, 0)) == tuple(PIXELS[0, 0].tolist())
    assert T.ToPILImage()(tn.tensor([[1, 2]], dtype=tn.int32)).mode == "I"
    for wrong, match in ((tn.ones(5, 2, 2), "> 4 channels"), (tn.ones(2), "2/3 dimensional")):
        with pytest.raises(ValueError, match=match):
            T.ToPILImage()(wrong)


# ---- whole samples ----


def test_samples_keep_what_is_no_image():
    both = v2.Compose([v2.ToImage(), v2.ToDtype(tn.float32, scale=True), v2.CenterCrop(2)])
    image, (label, name) = both(PILLOW, (3, "cat"))
    assert image.shape == (3, 2, 2) and image.dtype is tn.float32 and (label, name) == (3, "cat")
    sample = v2.RandomHorizontalFlip(p=1)({"image": TENSOR, "target": tn.tensor([1, 2])})
    assert tn.equal(sample["image"], TENSOR.flip(-1)) and sample["target"].tolist() == [1, 2]


def test_the_images_of_a_sample_get_the_same_random_numbers():
    pictures = v2.RandomResizedCrop(5)([PILLOW] * 3)
    assert len({picture.tobytes() for picture in pictures}) == 1


def test_transforms_can_be_pickled():
    for transform in (*RANDOM_TRANSFORMS, v2.RandomHorizontalFlip(), v2.Compose([v2.Resize(3)])):
        assert repr(pickle.loads(pickle.dumps(transform))) == repr(transform)


def test_mixtures():
    images_, labels = tn.rand(4, 1, 6, 6), tn.tensor([0, 1, 2, 0])
    for mixture in (v2.CutMix(num_classes=3), v2.MixUp(num_classes=3)):
        mixed, weights = mixture(images_, labels)
        assert mixed.shape == images_.shape and weights.shape == (4, 3)
        assert (weights.sum(1) - 1).abs().max() <= 4 * 2.0**-24
    with pytest.raises(ValueError, match="num_classes must be passed"):
        v2.MixUp()(images_, labels)


# ---- data sets and files ----


@pytest.mark.parametrize("kind", [datasets.MNIST, datasets.FashionMNIST, datasets.KMNIST])
def test_data_sets_in_idx_files(tmp_path, kind):
    write_mnist(tmp_path / kind.__name__ / "raw", 12, 7)
    data = kind(tmp_path, train=False, download=True)
    image, label = data[2]
    assert len(data) == 7 and image.mode == "L" and image.size == (28, 28) and type(label) is int
    assert np.array_equal(np.asarray(image), data.data[2].numpy()) and data.targets[2] == label
    assert data.data.shape == (7, 28, 28) and len(data.classes) == 10
    assert data.class_to_idx[data.classes[3]] == 3
    chosen = kind(tmp_path, True, T.ToTensor(), lambda label: label + 100)
    image, label = chosen[0]
    assert image.dtype is tn.float32 and 0.9 < image.max() <= 1 and label >= 100
    assert repr(data) == (
        f"Dataset {kind.__name__}\n    Number of datapoints: 7\n"
        f"    Root location: {tmp_path}\n    Split: Test"
    )
    batch, labels = next(iter(tn.utils.data.DataLoader(chosen, 4, num_workers=1)))
    assert batch.shape == (4, 1, 28, 28) and labels.dtype is tn.int64


def test_data_sets_in_cifar_s_files(tmp_path):
    (tmp_path / "cifar-10-batches-bin").mkdir()
    record = bytes([3]) + bytes(range(256)) * 12
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(record * 2)
    data = datasets.CIFAR10(tmp_path, train=False, transform=T.ToTensor())
    image, label = data[1]
    assert image.shape == (3, 32, 32) and label == 3 and data.targets == [3, 3]
    assert data.data.shape == (2, 32, 32, 3) and data.data.dtype == np.uint8
    with pytest.raises(RuntimeError, match="cifar-100-binary: unpack https://www.cs.toronto.edu"):
        datasets.CIFAR100(tmp_path, download=True)


def test_folders_of_images(tmp_path):
    for name, count in (("cat", 2), ("dog", 1)):
        (tmp_path / name).mkdir()
        for number in range(count):
            PILLOW.save(tmp_path / name / f"{number}.png")
    data = datasets.ImageFolder(str(tmp_path), T.Compose([T.Resize(4), T.ToTensor()]))
    assert (
        data.classes == ["cat", "dog"] and data.targets == [0, 0, 1] and data.imgs == data.samples
    )
    image, label = data[2]
    assert image.shape == (3, 4, 5) and label == 1 and type(label) is int
    assert tn.equal(utils.read_image(tmp_path / "cat" / "0.png"), TENSOR)
    assert utils.read_image(tmp_path / "cat" / "0.png", utils.ImageReadMode.GRAY).shape == (1, 6, 8)


def test_images_in_files(tmp_path):
    batch = tn.rand(5, 1, 6, 6)
    utils.save_image(batch, tmp_path / "grid.png", nrow=3)
    with Image.open(tmp_path / "grid.png") as image:
        assert image.size == (26, 18) and image.mode == "RGB"
    utils.save_image(batch, tmp_path / "grid.jpg")
    with open(tmp_path / "open.png", "wb") as file:
        utils.save_image(list(batch), file, format="png")


def test_without_pillow(tmp_path, monkeypatch):
    monkeypatch.setattr(pillow, "pillow", lambda: None)
    monkeypatch.setattr(utils, "pillow", lambda: None)
    write_mnist(tmp_path / "data", 3, 3)
    image, _ = datasets.MNIST(tmp_path / "data")[0]
    assert isinstance(image, np.ndarray) and image.shape == (28, 28)
    chain = [T.RandomCrop(20, 2), T.RandomHorizontalFlip(), T.Resize(8), T.RandomRotation(9)]
    assert T.Compose([*chain, T.ToTensor()])(image).shape == (1, 8, 8)
    assert v2.Compose([v2.Resize(8), v2.ToImage()])(image, 3)[0].shape == (1, 8, 8)
    utils.save_image(tn.rand(1, 4, 4), tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes()[1:4] == b"PNG"


# ---- models ----


def test_weights_are_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    place = os.path.join(tmp_path, "hub", "checkpoints", "resnet18-f37072fd.pth")
    for given in ({"weights": "DEFAULT"}, {"weights": models.ResNet18_Weights.IMAGENET1K_V1}):
        with pytest.raises(FileNotFoundError, match=f"/resnet18-f37072fd.pth to {place}"):
            models.resnet18(**given)
    with pytest.raises(TypeError, match="expected ResNet18_Weights but received ResNet34_Weights"):
        models.resnet18(weights=models.ResNet34_Weights.DEFAULT)
    with pytest.raises(ValueError, match="expected value 1000 but got 10"):
        models.resnet18(weights="DEFAULT", num_classes=10)
    os.makedirs(os.path.dirname(place))
    net = models.resnet18()
    tn.save(net.state_dict(), place)
    loaded = models.resnet18(pretrained=True)
    assert tn.equal(loaded.fc.weight, net.fc.weight)


@pytest.mark.parametrize("options", [{}, {"replace_stride_with_dilation": [False, True, True]}])
def test_networks_learn(options):
    kind = models.resnet50 if options else models.resnet18
    net = kind(num_classes=3, zero_init_residual=True, **options)
    loss = nn.functional.cross_entropy(net(tn.randn(2, 3, 32, 32)), tn.tensor([0, 2]))
    loss.backward()
    assert all(p.grad is not None for p in net.parameters())
    features = nn.Sequential(*list(net.children())[:-2]).eval()
    assert features(tn.randn(1, 3, 32, 32)).shape[-1] == (4 if options else 1)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("mobilenet_v2", 3_504_872),
        ("mobilenet_v3_large", 5_483_032),
        ("mobilenet_v3_small", 2_542_856),
        ("resnext50_32x4d", 25_028_904),
        ("wide_resnet50_2", 68_883_240),
    ],
)
def test_networks_have_torchvisions_sizes(name, count):
    net = getattr(models, name)()
    assert sum(p.numel() for p in net.parameters()) == count


@pytest.mark.parametrize("name", ["mobilenet_v2", "mobilenet_v3_small"])
def test_mobile_networks_learn(name):
    net = getattr(models, name)(num_classes=3)
    loss = nn.functional.cross_entropy(net(tn.randn(2, 3, 32, 32)), tn.tensor([0, 2]))
    loss.backward()
    assert all(p.grad is not None for p in net.parameters())
    names = list(net.state_dict())
    assert names[0] == "features.0.0.weight" and "features.1.bn.weight" not in names
    assert "features.2.conv.1.0.weight" in names or "features.2.block.1.0.weight" in names
