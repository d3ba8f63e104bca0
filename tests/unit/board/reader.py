"""An event file read back without TensorBoard: records, checksums, tensorboardX's messages.

The checksum is computed here bit by bit, from its definition, not by the code under test.
"""

import struct
from pathlib import Path

from tinynet.board import tensorboardx

POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), reversed


def _table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        yield byte


TABLE = list(_table())


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """The data of all records; anything torn or altered is an assertion error."""
    data, found = Path(path).read_bytes(), []
    while data:
        assert len(data) >= 12, "the file ends within a record"
        length, crc = struct.unpack("<QI", data[:12])
        assert masked_crc(data[:8]) == crc
        assert len(data) >= 16 + length, "the file ends within a record"
        body, (crc,) = data[12 : 12 + length], struct.unpack("<I", data[12 + length : 16 + length])
        assert masked_crc(body) == crc
        found.append(body)
        data = data[16 + length :]
    return found


def files(folder):
    return sorted(Path(folder).glob("events.out.tfevents.*"))


def events(folder):
    """All events of a folder, in the order of TensorBoard; each file begins with the version."""
    found = []
    for path in files(folder):
        parsed = [tensorboardx.load().Event.FromString(record) for record in records(path)]
        assert parsed[0].file_version == "brain.Event:2"
        found += parsed[1:]
    return found


def scalars(folder):
    """(tag, step, value) of all plain scalars."""
    return [
        (value.tag, event.step, value.simple_value)
        for event in events(folder)
        for value in event.summary.value
    ]


def graph_defs(folder):
    """The run graphs of a folder, parsed."""
    return [
        tensorboardx.load().GraphDef.FromString(event.graph_def)
        for event in events(folder)
        if event.WhichOneof("what") == "graph_def"
    ]
