"""A PNG file decoded without the encoder under test: all filters, every chunk checked."""

import struct
import zlib

import numpy as np

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunks(data):
    """(name, data) of each chunk."""
    assert data[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
    position, found = 8, []
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        name, body = (
            data[position + 4 : position + 8],
            data[position + 8 : position + 8 + length],
        )
        (crc,) = struct.unpack_from(">I", data, position + 8 + length)
        assert crc == zlib.crc32(name + body)
        found.append((name.decode(), body))
        position += 12 + length
    assert found[0][0] == "IHDR"
    assert found[-1] == ("IEND", b"")
    return found


def paeth(left, up, corner):
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


def unfiltered(data, height, width, channels):
    """Byte by byte, as the specification defines the five filters."""
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    rows = np.zeros((height + 1, (width + 1) * channels), int)
    for y, (kind, *line) in enumerate(lines.tolist(), 1):
        for x, value in enumerate(line, channels):
            left, up, corner = rows[y, x - channels], rows[y - 1, x], rows[y - 1, x - channels]
            guess = [0, left, up, (left + up) // 2, paeth(left, up, corner)][kind]
            rows[y, x] = (value + guess) % 256
    return rows[1:, channels:].reshape(height, width, channels).astype(np.uint8)


def frames(data):
    """The pictures of a PNG file: one, or all of an animated one."""
    found = chunks(data)
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", found[0][1])
    assert (depth, rest) == (8, [0, 0, 0])
    bodies = [body for name, body in found if name == "IDAT"]
    bodies += [body[4:] for name, body in found if name == "fdAT"]
    numbers = [struct.unpack(">I", body[:4]) for name, body in found if name in ("fcTL", "fdAT")]
    assert numbers == [(number,) for number in range(len(numbers))]
    return [unfiltered(body, height, width, CHANNELS[colour]) for body in bodies]


def picture(data):
    """The only picture of a PNG file."""
    (found,) = frames(data)
    return found
