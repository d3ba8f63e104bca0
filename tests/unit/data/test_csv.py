"""CSV files: written by hand, by Python's csv module and by numpy, and damaged ones."""

import csv
import gzip
import math

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import CSV, DataLoader, FormatError
from tinynet.train import load_config
from tinynet.train.assemble.build import build

PEOPLE = '''\
age,city,height,likes
31,Ulm,1.75,tea
25,"Köln, West",1.62,coffee
47,Ulm,1.80,tea
52,Bern,1.7e0,"none, ""really"""
'''


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def refused(path, *arguments, **keywords):
    with pytest.raises(FormatError) as caught:
        CSV(path, *arguments, **keywords)
    assert caught.value.__cause__ is None
    message = str(caught.value)
    assert message.startswith(str(path))
    return message[len(str(path)) :]


# ---- columns ----


def test_features_and_classes(write):
    data = CSV(write(PEOPLE), target="likes")
    assert data.feature_names == ["age", "city=Bern", "city=Köln, West", "city=Ulm", "height"]
    assert data.classes == ["coffee", 'none, "really"', "tea"]
    assert len(data) == 4
    features, label = data[1]
    assert features.dtype is tn.float32
    assert features.tolist() == [25, 0, 1, 0, np.float32(1.62)]
    assert label.dtype is tn.int64
    assert label.shape == ()
    assert [label.item() for _, label in data] == [2, 0, 2, 1]
    assert data.features.shape == (4, 5)


def test_a_target_that_is_a_number(write):
    data = CSV(write(PEOPLE), "height", ["age"], dtype=tn.float64)
    features, target = data[3]
    assert features.tolist() == [52]
    assert target.tolist() == [1.7]
    assert target.shape == (1,)
    assert target.dtype is tn.float64
    assert data.classes == []


def test_no_target(write):
    data = CSV(write(PEOPLE), columns=["height", "age"])
    assert data.feature_names == ["height", "age"]
    assert data[0][0].tolist() == [1.75, 31]
    assert len(data[0]) == 1


def test_numbers_as_classes(write):
    path = write("x,kind\n1,10\n2,9\n3,10\n4,-1.5\n")
    assert CSV(path, "kind")[0][1].tolist() == [10]
    data = CSV(path, "kind", classify=True)
    assert data.classes == ["-1.5", "9", "10"]
    assert [label.item() for _, label in data] == [2, 1, 2, 0]


def test_numbers_as_categories(write):
    data = CSV(write("zip,x\n89073,1\n10115,2\n89073,3\n"), categorical=["zip"])
    assert data.feature_names == ["zip=10115", "zip=89073", "x"]
    assert data.features.tolist() == [[0, 1, 1], [1, 0, 2], [0, 1, 3]]


def test_categories_as_numbers(write):
    data = CSV(write(PEOPLE), "likes", ["city"], encode="index")
    assert data.feature_names == ["city"]
    assert data.features.tolist() == [[2], [1], [2], [0]]


def test_standardized(write):
    data = CSV(write("a,b,c\n1,x,5\n2,y,5\n6,x,5\n"), standardize=True, dtype=tn.float64)
    column = (np.array([1, 2, 6]) - 3) / np.std([1, 2, 6])
    assert np.allclose(data.features[:, 0].numpy(), column, rtol=1e-15)
    assert data.features[:, 1:].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_spaces_and_empty_lines(write, end):
    lines = ["", " a , b ", "", ' 1, "2"', "", "3 ,4", ""]
    data = CSV(write(end.join(lines)))
    assert data.feature_names == ["a", "b"]
    assert data.features.tolist() == [[1, 2], [3, 4]]


def test_a_quoted_value_on_several_lines(write):
    path = write('a,b\n"x\ny",1\n"x\ny",oops\n"x\ny",3\n')
    expected = "a number, as in 2 of 3 rows (or name the column in 'categorical')"
    assert refused(path) == f", line 4, column 'b': expected {expected}, found 'oops'"
    assert CSV(path, categorical=["b"]).feature_names == ["a=x\ny", "b=1", "b=3", "b=oops"]


def test_names_that_the_file_does_not_have(write):
    data = CSV(write("1,x\n2,y\n"), names=["n", "l"], target="l")
    assert len(data) == 2
    assert data.classes == ["x", "y"]


def test_other_forms(write):
    text = "größe;b\n1;2\n"
    assert CSV(write(text.encode("latin-1")), encoding="latin-1", delimiter=";").feature_names == [
        "größe",
        "b",
    ]
    assert CSV(write(b"\xef\xbb\xbfa,b\n1,2\n")).feature_names == ["a", "b"]
    assert len(CSV(write(gzip.compress(PEOPLE.encode()), "a.csv.gz"))) == 4
    assert CSV(write("a\tb\n1\t2\n"), delimiter="\t").features.tolist() == [[1, 2]]
    assert CSV(write("a  b\n1   2\n"), delimiter=" ").features.tolist() == [[1, 2]]


def test_what_other_programs_write(tmp_path):
    generator = np.random.default_rng(0)
    numbers = generator.standard_normal((50, 3))
    path = tmp_path / "numpy.csv"
    np.savetxt(path, numbers, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    assert CSV(path, dtype=tn.float64).features.tolist() == numbers.tolist()
    names = ["plain", "with, comma", 'with "quotes"', "with\nline", " spaces ", "ünï"]
    path = tmp_path / "python.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "i"])
        writer.writerows([[name, i] for i, name in enumerate(names)])
    data = CSV(path, "name")
    assert [data.classes[label.item()] for _, label in data] == [name.strip() for name in names]
    assert data.features.flatten().tolist() == list(range(6))


def test_batches_and_transforms(write):
    data = CSV(write(PEOPLE), "height", ["age"], transform=lambda x: x / 100)
    (batch,) = DataLoader(data, batch_size=4)
    assert batch[0].shape == batch[1].shape == (4, 1)
    assert batch[0].flatten().tolist() == (tn.tensor([31.0, 25, 47, 52]) / 100).tolist()


# ---- the same numbers for another file ----


def test_like(write):
    train = CSV(write(PEOPLE), "likes", ["age", "city"], standardize=True)
    other = write("likes,city,age,unused\ntea,Bern,31,z\nnope,Ulm,38.75,z\n", "b.csv")
    assert refused(other, like=train) == (
        ", line 3, column 'likes': expected one of 'coffee', 'none, \"really\"', 'tea', "
        "found 'nope'"
    )
    other.write_text("likes,city,age,unused\ntea,Bern,31,z\ncoffee,Ulm,38.75,z\n")
    test = CSV(other, like=train)
    assert test.feature_names == train.feature_names
    assert test[0][0][0].item() == train[0][0][0].item()
    assert test[1][0].tolist() == [0, 0, 0, 1]
    assert [label.item() for _, label in test] == [2, 0]
    assert test.classes == train.classes
    other.write_text("likes,city,age\ntea,Genf,31\n")
    assert "column 'city': expected one of 'Bern', 'Köln, West', 'Ulm', found 'Genf'" in refused(
        other, like=train
    )


# ---- missing values ----

GAPS = "a,b,c\n1,x,0\n,y,1\n4,NA,0\n6,?,1\n"


def test_missing_values_are_refused(write):
    path = write(GAPS)
    assert refused(path, "c") == (
        ": 3 mistakes"
        "\n  line 3, column 'a': expected a value ('fill' says what else to do), found none"
        "\n  line 4, column 'b': expected a value ('fill' says what else to do), found none"
        "\n  line 5, column 'b': expected a value ('fill' says what else to do), found none"
    )
    assert refused(path, "c", ["a"]).startswith(", line 3, column 'a': expected a value")


@pytest.mark.parametrize("fill, value", [("mean", 11 / 3), ("median", 4.0), (0, 0.0), (-1.5, -1.5)])
def test_missing_values_are_filled(write, fill, value):
    data = CSV(write(GAPS), "c", fill=fill, dtype=tn.float64)
    assert data.feature_names == ["a", "b=x", "b=y", "b=(missing)"]
    assert data.features[:, 0].tolist() == [1, value, 4, 6]
    assert data.features[:, 3].tolist() == [0, 0, 1, 1]
    assert len(data) == 4


def test_rows_with_missing_values_are_dropped(write):
    path = write(GAPS)
    assert CSV(path, "c", fill="drop").features.tolist() == [[1, 1]]
    assert CSV(path, "c", ["a"], fill="drop").features.tolist() == [[1], [4], [6]]
    assert CSV(path, "a", ["c"], fill="drop").features.tolist() == [[0], [0], [1]]
    assert "expected a row without missing values, found none" in refused(
        write("a,b\n,1\n1,\n"), fill="drop"
    )


def test_a_missing_target_is_never_filled(write):
    assert ", line 3, column 'a'" in refused(write(GAPS), "a", ["c"], fill="mean")
    assert "line 4, column 'b'" in refused(write(GAPS), "b", ["c"], fill=0)


def test_what_missing_values_look_like(write):
    assert CSV(write("a\n1\n-999\n"), missing=["-999"], fill=7).features.tolist() == [[1], [7]]
    assert refused(write("a,b\nNA,1\n,1\n")).endswith(
        "line 2, column 'a': expected a value in at least one row, found none"
    )


# ---- what is wrong with a file ----


@pytest.mark.parametrize(
    "content, message",
    [
        ("", ": expected a line of column names, found an empty file"),
        ("\n\n", ": expected a line of column names, found an empty file"),
        ("a,b\n", ": expected rows of values, found none"),
        ("a,,c\n1,2,3\n", ", line 1: expected a name for column 2, found none"),
        ("\na,b,a\n1,2,3\n", ", line 2: expected different names, found 'a' twice"),
        ("a,b\n1,2\n1\n", ", line 3: expected 2 values, as there are columns, found 1"),
        ("a,b\n1,2\n\n1,2,3\n", ", line 4: expected 2 values, as there are columns, found 3"),
        ('a,b\n1,2\n1,"2\n3,4\n', "line 3: expected comma-separated values, found a quote that"),
        ('a,b\n1,"2"x\n', "line 2: expected comma-separated values, found more text after a clos"),
        ("a\n1\n2\n3O\n", ", line 4, column 'a': expected a number, as in 2 of 3 rows (or name"),
        ("a\n1\n2\ninf\n", "column 'a': expected a number, as in 2 of 3 rows (or name the col"),
        ("a\n1\n2\n1_0\n", "column 'a': expected a number, as in 2 of 3 rows (or name the col"),
        ("a\n1\n1e300\n", ", line 3, column 'a': expected a number that float32 can hold, found "),
        ("a\n" + "x" * 200_000, "line 2: expected comma-separated values, found field larger"),
    ],
)
def test_refused(write, content, message):
    assert message in refused(write(content))


@pytest.mark.parametrize("where", [0, 5, 20, 60])
def test_no_utf8(write, where):
    content = bytearray(PEOPLE.encode())
    content[where] = 0xFF
    line = content.count(b"\n", 0, where) + 1
    assert refused(write(bytes(content))) == (
        f", line {line}: expected utf-8 text, found the byte 0xff at offset {where}"
    )


def test_any_truncation_is_read_or_told(write):
    content = PEOPLE.encode()
    read = 0
    for length in range(len(content)):
        path = write(content[:length])
        try:
            read += bool(len(CSV(path, "likes")))
        except FormatError as error:
            assert str(error).startswith(str(path))
    assert read  # what ends with a row cannot be told from a whole file


def test_columns_that_are_not_there(write):
    path = write(PEOPLE)
    expected = ": expected a column 'hight', found the columns 'age', 'city', 'height', 'likes'"
    assert refused(path, "hight") == expected
    assert refused(path, "likes", ["age", "hight"]) == expected
    assert refused(path, categorical=["hight"]) == expected
    assert refused(write("a;b\n1;2\n"), "b") == (
        ": expected a column 'b', found the columns 'a;b' (is the delimiter ';'?)"
    )


def test_arguments_that_do_not_fit(write):
    path = write(PEOPLE)
    with pytest.raises(ValueError, match="target 'age' cannot be among the 'columns' as well"):
        CSV(path, "age", ["age", "city"])
    with pytest.raises(ValueError, match="no column of .*b.csv is left for the features"):
        CSV(write("a\n1\n", "b.csv"), "a")
    with pytest.raises(FileNotFoundError):
        CSV(path.with_name("c.csv"))
    assert "column 'likes': expected a finite number, found 'tea'" in refused(
        path, "likes", classify=False
    )


def test_too_many_categories(write):
    path = write("id,x\n" + "".join(f"row{i},1\n" for i in range(1500)))
    with pytest.raises(ValueError, match="column 'id': 1500 different values are too many"):
        CSV(path, "x")
    assert CSV(path, "x", encode="index").features.shape == (1500, 1)


def test_in_a_config(tmp_path, write):
    rows = "".join(f"{math.sin(i):.3f},{'abc'[i % 3]},{i % 2}\n" for i in range(20))
    write("x,letter,kind\n" + rows)
    (tmp_path / "c.toml").write_text(
        '[data]\ntype = "CSV"\npath = "a.csv"\ntarget = "kind"\nclassify = true\nfill = "mean"\n'
        "test_fraction = 0.25\nvalidation = 0\n"
        '[model]\ntype = "Linear"\nin_features = 4\nout_features = 2\n'
        '[loss]\ntype = "CrossEntropyLoss"\n[optimizer]\ntype = "SGD"\n'
    )
    parts = build(load_config(tmp_path / "c.toml"))
    assert (len(parts.train_set), len(parts.test_set)) == (15, 5)
    features, labels = next(iter(parts.train_batches))
    assert features.shape == (15, 4)
    parts.loss(parts.model(features), labels).backward()
