"""Folders of images: written by Pillow and, bit by bit, here; and damaged ones."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import DataLoader, FormatError, ImageFolder
from tinynet.data.transforms import RandomCrop, ToTensor
from tinynet.train import load_config
from tinynet.train.assemble.build import build

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (the extra 'images')")

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 5, 3), dtype=np.uint8)


def png_bytes(pixels, depth=8):
    """A PNG file as its specification has it: no filter, no palette."""
    color = 0 if pixels.ndim == 2 else {3: 2, 4: 6}[pixels.shape[2]]
    rows = b"".join(b"\0" + row.astype(f">u{depth // 8}").tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], depth, color, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


@pytest.fixture
def root(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
    Image.fromarray(PIXELS).save(tmp_path / "cat" / "1.png")
    (tmp_path / "cat" / "2.PNG").write_bytes(png_bytes(PIXELS[::-1]))
    Image.fromarray(PIXELS[:, ::-1]).save(tmp_path / "dog" / "1.bmp")
    (tmp_path / "dog" / "notes.txt").write_text("no image")
    return tmp_path


def values(pixels):
    """What an array of 8-bit pixels is as a tensor."""
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    return (np.moveaxis(pixels, 2, 0) / np.float32(255)).astype(np.float32).tolist()


def refused(data, index=0):
    with pytest.raises(FormatError) as caught:
        data[index]
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_samples(root):
    data = ImageFolder(root)
    assert data.classes == ["cat", "dog"]
    assert data.imgs == data.samples
    assert data.targets == [0, 0, 1]
    for index, pixels in enumerate((PIXELS, PIXELS[::-1], PIXELS[:, ::-1])):
        image, label = data[index]
        assert image.dtype is tn.float32
        assert image.shape == (3, 6, 5)
        assert image.tolist() == values(pixels)
        assert label.item() == data.targets[index]
    (batch,) = DataLoader(data, batch_size=3)
    assert batch[0].shape == (3, 3, 6, 5)
    assert batch[1].tolist() == [0, 0, 1]


def test_a_loader_and_transforms(root):
    generator = tn.Generator().manual_seed(0)
    data = ImageFolder(root, RandomCrop(4, generator=generator), lambda label: label + 5)
    assert data[0][0].shape == (3, 4, 4)
    assert data[2][1].item() == 6
    own = ImageFolder(root, ToTensor(), loader=lambda path: Image.open(path).convert("L"))
    assert own[0][0].tolist() == values(np.asarray(Image.fromarray(PIXELS).convert("L")))
    assert (
        len(ImageFolder(root, is_valid_file=lambda path: path.endswith("1.png"), allow_empty=True))
        == 1
    )


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
@pytest.mark.parametrize("source", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_modes(tmp_path, mode, source):
    (tmp_path / "x").mkdir()
    image = Image.fromarray(PIXELS).convert(source)
    image.save(tmp_path / "x" / "1.png")
    found = ImageFolder(tmp_path, mode=mode)[0][0]
    assert found.tolist() == values(np.asarray(image.convert(mode)))


def test_a_palette_with_transparency(tmp_path):
    (tmp_path / "x").mkdir()
    image = Image.fromarray(PIXELS).convert("P")
    image.save(tmp_path / "x" / "1.png", transparency=bytes(range(200)))
    assert ImageFolder(tmp_path, mode="RGBA")[0][0][3].max().item() <= 1
    assert ImageFolder(tmp_path)[0][0].tolist() == values(np.asarray(image.convert("RGB")))


@pytest.mark.parametrize("mode, channels", [("L", 1), ("RGB", 3), ("RGBA", 4)])
def test_16_bits(tmp_path, mode, channels):
    (tmp_path / "x").mkdir()
    grey = np.array([[0, 256, 65535], [1, 40000, 5]], np.uint16)
    (tmp_path / "x" / "1.png").write_bytes(png_bytes(grey, depth=16))
    image = ImageFolder(tmp_path, mode=mode)[0][0].numpy()
    assert image.shape == (channels, 2, 3)
    assert np.array_equal(image[0], (grey / np.float32(65535)).astype(np.float32))
    assert (image[1:3] == image[0]).all()
    assert (image[3:] == 1).all()


def test_scaled(root):
    data = ImageFolder(root, size=(3, 4))
    expected = Image.fromarray(PIXELS).resize((4, 3), Image.Resampling.BILINEAR)
    assert data[0][0].tolist() == values(np.asarray(expected))
    assert ImageFolder(root, size=8)[0][0].shape == (3, 8, 8)


# ---- what is wrong ----


def test_every_truncation_is_found_or_harmless(root):
    """What is missing of the very end is check sums: Pillow has all pixels before it."""
    path = root / "cat" / "1.png"
    content, data = path.read_bytes(), ImageFolder(root)
    harmless = []
    for length in range(len(content)):
        path.write_bytes(content[:length])
        try:
            assert data[0][0].tolist() == values(PIXELS)
            harmless.append(length)
        except FormatError as error:
            assert str(error).startswith(
                f"{path}: expected a complete image that Pillow can read, "
            )
    assert min(harmless) >= content.rindex(b"IEND") - 12


def test_bit_flips_are_found_or_harmless(root):
    path = root / "cat" / "2.PNG"
    content, data = path.read_bytes(), ImageFolder(root)
    found = 0
    for position in range(0, len(content) * 8, 3):
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            assert data[1][0].tolist() == values(PIXELS[::-1])
        except FormatError as error:
            assert str(path) in str(error)
            found += 1
    assert found > len(content) * 8 / 3 / 2


@pytest.mark.parametrize(
    "content, found",
    [
        (b"", "nothing: the file is empty"),
        (b"just text", "6a 75 73 74"),
        (b"PK\x03\x04", "50 4b 03 04: a zip file, such as .npz"),
    ],
)
def test_no_image(root, content, found):
    path = root / "cat" / "1.png"
    path.write_bytes(content)
    expected = "expected a complete image that Pillow can read"
    assert refused(ImageFolder(root)) == f"{path}: {expected}, found {found}"


def test_an_image_larger_than_any_memory(root):
    (root / "cat" / "1.png").write_bytes(png_bytes(np.zeros((1, 1), np.uint8)).replace(
        struct.pack(">II", 1, 1), struct.pack(">II", 60_000, 60_000)))  # fmt: skip
    assert "expected a complete image" in refused(ImageFolder(root))


def test_what_is_missing(root, tmp_path):
    data = ImageFolder(root)
    (root / "cat" / "1.png").unlink()
    with pytest.raises(FileNotFoundError):
        data[0]
    (root / "bird").mkdir()
    with pytest.raises(FileNotFoundError, match="no valid file for the classes bird. Supp"):
        ImageFolder(root)
    with pytest.raises(ValueError, match="'mode' parameter of ImageFolder must be RGB, RGBA or L"):
        ImageFolder(root, mode="CMYK")


def test_without_pillow(root):
    code = (
        "import sys; sys.modules['PIL'] = None; import tinynet as tn\n"
        f"tn.data.ImageFolder({str(root)!r}, loader=len)\n"
        f"try: tn.data.ImageFolder({str(root)!r})\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.startswith("Images are read with Pillow, which is not installed: `")
    assert run.stderr == ""


def test_in_a_config(root, tmp_path):
    (tmp_path / "c.toml").write_text(
        '[data]\ntype = "ImageFolder"\nroot = "."\nmode = "L"\nsize = [4, 3]\n'
        'transform = {type = "Normalize", mean = 0.5, std = 0.5}\ntest_fraction = 0.34\n'
        "validation = 0\n"
        '[model]\ntype = "sequential"\nlayers = [{type = "Flatten"}, '
        '{type = "Linear", in_features = 12, out_features = 2}]\n'
        '[loss]\ntype = "CrossEntropyLoss"\n[optimizer]\ntype = "SGD"\n'
    )
    parts = build(load_config(tmp_path / "c.toml"))
    images, labels = next(iter(parts.train_batches))
    assert images.shape == (2, 1, 4, 3)
    parts.loss(parts.model(images), labels).backward()
