"""Models of text and of words: that they are right, learn, write text, and show what they know."""

import json
import math

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tests.tools.rounding import STEPS, bound, near
from tinynet import data, nn
from tinynet.train import ChangedWarning, UsageError, evaluate, run
from tinynet.train.cli import main
from tinynet.train.exhibits import Moment, Neighbours, Projector, SampledText
from tinynet.train.models import GPT, LSTMLanguageModel, SkipGram
from tinynet.train.outputs import generate, generate_text

LETTERS = "abcdefghij"
MODELS = {
    "gpt": lambda: GPT(vocab_size=12, context=8, layers=2, heads=2, width=8),
    "lstm": lambda: LSTMLanguageModel(vocab_size=12, width=4, hidden=8, layers=2),
}
CONFIG = """
run = {{epochs = 3}}
data = {{type = "Text", path = "letters.txt", length = 8, held_out = 0.1}}
model = {{type = "{model}", vocab_size = 12, {arguments}}}
loss = {{type = "CrossEntropyLoss"}}
optimizer = {{type = "Adam", lr = 0.03}}
evaluation = {{metrics = ["accuracy", "bits", "perplexity", "top2"], show = [{show}]}}
"""
GPT_ARGUMENTS = "context = 8, layers = 1, heads = 2, width = 16"
SHOW = '{type = "SampledText", prompt = "cde", length = 20, temperature = 0}, {type = "Projector"}'


@pytest.fixture(params=MODELS)
def model(request):
    tn.manual_seed(0)
    return MODELS[request.param]()


@pytest.fixture
def config(write, tmp_path):
    """Writes the letters of the alphabet again and again, and a config that learns them."""
    (tmp_path / "letters.txt").write_text(LETTERS * 300, encoding="utf-8")

    def write_config(model="GPT", arguments=GPT_ARGUMENTS, show=SHOW):
        return write(CONFIG.format(model=model, arguments=arguments, show=show))

    return write_config


# ---- the models ----


def test_scores_depend_on_what_came_before_and_on_nothing_else(model):
    tokens = tn.tensor([[1, 2, 3, 4, 5, 6]])
    scores = model(tokens)
    changed = model(tn.tensor([[1, 2, 3, 4, 7, 6]]))
    assert scores.shape == (1, 12, 6)
    before, after = scores[0].detach().numpy().T, changed[0].detach().numpy().T
    same = [now == near(then) for now, then in zip(after, before, strict=True)]
    assert same == [True] * 4 + [False] * 2


def test_gpt_is_what_the_formulas_say():
    """One block, in numpy, from the same weights."""
    tn.manual_seed(0)
    net = GPT(vocab_size=7, context=5, layers=1, heads=2, width=4, tied=False).double()
    for parameter in net.parameters():
        with tn.no_grad():
            parameter.normal_(std=0.5)
    w = {name: p.detach().numpy() for name, p in net.named_parameters()}

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    tokens = np.array([3, 1, 6, 6])
    x = w["tokens.weight"][tokens] + w["positions.weight"][:4]
    qkv = linear(norm(x, "blocks.0.norm1"), "blocks.0.attention.query_key_value")
    found = np.empty((4, 4))
    for head in (0, 1):
        q, k, v = (qkv[:, 4 * i + 2 * head : 4 * i + 2 * head + 2] for i in range(3))
        powers = np.tril(np.exp(q @ k.T / math.sqrt(2)))
        found[:, 2 * head : 2 * head + 2] = powers / powers.sum(1, keepdims=True) @ v
    x = x + linear(found, "blocks.0.attention.out")
    h = linear(norm(x, "blocks.0.norm2"), "blocks.0.expand")
    h = 0.5 * h * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    x = x + linear(h, "blocks.0.contract")
    expected = norm(x, "norm") @ w["head.weight"].T
    np.testing.assert_allclose(net(tn.tensor(tokens)[None])[0].detach().numpy().T, expected)


def test_tied_embeddings_are_one_parameter():
    tied, own = (GPT(50, 8, 1, 2, 8, tied=tied) for tied in (True, False))
    assert tied.head.weight is tied.tokens.weight
    count = [sum(p.numel() for p in net.parameters()) for net in (tied, own)]
    assert count[1] - count[0] == 50 * 8
    assert "head.weight" in tied.state_dict()


def test_gpt_starts_as_the_paper_says():
    tn.manual_seed(0)
    net = GPT(vocab_size=200, context=64, layers=8, heads=2, width=64)
    deviation = {name: p.std().item() for name, p in net.named_parameters() if p.ndim == 2}
    for name, found in deviation.items():
        ends = name.endswith(("out.weight", "contract.weight"))
        assert found == pytest.approx(0.005 if ends else 0.02, rel=0.1), name
    tokens, targets = tn.randint(0, 200, (2, 4, 64))
    loss = nn.functional.cross_entropy(net(tokens), targets)
    assert loss.item() == pytest.approx(math.log(200), abs=0.1)


def test_what_gpt_refuses():
    with pytest.raises(ValueError, match=r"must be a multiple of 'heads' \(3\). Got 8"):
        GPT(10, 4, 1, heads=3, width=8)
    with pytest.raises(ValueError, match=r"has 4 positions \(model.context\).* text of 5 tokens"):
        GPT(10, 4, 1, heads=2, width=8)(tn.zeros(1, 5, dtype=tn.int64))


def test_word_vectors_learn_what_stands_together():
    tn.manual_seed(0)
    words = tn.randint(0, 8, (400,))
    same = words // 2 * 2 + tn.randint(0, 2, (400,))  # 0 or 1 beside 0 and 1, 2 or 3 beside ...
    other = tn.randint(0, 8, (400, 3))
    inputs = tn.cat([words[:, None], same[:, None], other], 1)
    targets = tn.zeros(400, 4)
    targets[:, 0] = 1
    net = SkipGram(vocab_size=8, width=4, max_norm=1.5)
    optimizer = tn.optim.SparseAdam(net.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(net(inputs), targets).backward()
        optimizer.step()
    net(inputs)
    vectors = net.words.weight.detach()
    assert vectors.norm(dim=1).max().item() <= 1.5 * (1 + bound(np.float32, STEPS))
    near = nn.functional.cosine_similarity(vectors[:, None], vectors[None], dim=2).fill_diagonal_(
        -1
    )
    assert near.argmax(1).tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


# ---- writing ----


def test_the_same_seed_the_same_text_and_no_trace(model):
    before = tn.get_rng_state()
    model.train()
    prompt = tn.tensor([[1, 2, 3], [4, 5, 6]])
    texts = [generate(model, prompt, 20, seed=seed) for seed in (1, 1, 2)]
    assert texts[0].shape == (2, 23)
    assert texts[0][:, :3].tolist() == prompt.tolist()
    assert texts[0].tolist() == texts[1].tolist() != texts[2].tolist()
    assert not texts[0].requires_grad
    assert tn.equal(tn.get_rng_state(), before)
    assert all(module.training for module in model.modules())


def test_the_likeliest_is_what_the_model_says(model):
    with tn.no_grad():
        tokens = tn.tensor([[5, 1]])
        for _ in range(12):
            window = tokens[:, -getattr(model, "context", 100) :]
            tokens = tn.cat([tokens, model.eval()(window)[:, :, -1].argmax(1, keepdim=True)], 1)
    for options in (dict(temperature=0), dict(top_k=1), dict(temperature=1e-6)):
        assert generate(model, tokens[:, :2], 12, **options).tolist() == tokens.tolist()


class Fixed(nn.Module):
    """Always the same scores."""

    def __init__(self, probabilities):
        super().__init__()
        self.scores = tn.tensor(probabilities).log()

    def forward(self, tokens):
        return self.scores[None, :, None].expand(len(tokens), -1, tokens.shape[1])


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, [0.5, 0.3, 0.2]),
        ({"temperature": 0.5}, [0.658, 0.237, 0.105]),  # squares
        ({"top_k": 2}, [0.625, 0.375, 0]),
        ({"top_k": 9}, [0.5, 0.3, 0.2]),
        ({"vocab_size": 2}, [0.625, 0.375, 0]),
    ],
)
def test_tokens_are_drawn_with_their_probabilities(options, expected):
    made = generate(Fixed([0.5, 0.3, 0.2]), tn.zeros(4000, 1, dtype=tn.int64), 1, **options)
    shares = np.bincount(made[:, 1].numpy(), minlength=3) / 4000
    assert shares == pytest.approx(expected, abs=0.03)


def test_what_generate_refuses(model):
    prompt = tn.tensor([[1]])
    for options, message in [
        (dict(temperature=-1), "'temperature' parameter of generate must be >= 0. Got -1"),
        (dict(temperature=math.nan), "'temperature' parameter .* Got nan"),
        (dict(top_k=0), "'top_k' parameter of generate must be >= 1. Got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            generate(model, prompt, 3, **options)
    with pytest.raises(ValueError, match="at least one token"):
        generate_text(model, data.CharTokenizer("ab"), "", 3)
    with pytest.raises(ValueError, match=r"scores \(batch, vocabulary, time\).* Flatten gives"):
        generate(nn.Flatten(), prompt, 3)


# ---- runs ----


@pytest.mark.parametrize(
    "kind, arguments", [("GPT", GPT_ARGUMENTS), ("LSTMLanguageModel", "width = 8, hidden = 32")]
)
def test_a_run_learns_the_alphabet_and_writes_it(config, kind, arguments, capsys):
    result = run(config(kind, arguments), quiet=True)
    metrics = result.metrics
    assert metrics["accuracy"] > 0.85
    assert metrics["top2"] >= metrics["accuracy"]
    assert metrics["bits"] == pytest.approx(metrics["loss"] / math.log(2))
    assert metrics["perplexity"] == pytest.approx(math.exp(metrics["loss"]))
    events = EventAccumulator(str(result.folder)).Reload()
    samples = events.Tensors("samples/text_summary")
    assert [sample.step for sample in samples] == [9, 19, 29]
    assert samples[-1].tensor_proto.string_val == [b"    cdefghijabcdefghijabcde"]
    names = (result.folder / "00000/vectors/metadata.tsv").read_text().split()
    assert names == [repr(letter) for letter in LETTERS]
    command = ["predict", str(result.folder), "--prompt", "ghi", "--length", "6"]
    assert main([*command, "--temperature", "0"]) == 0
    assert capsys.readouterr().out == "ghijabcde\n"


def test_a_run_writes_without_the_text_that_it_learned(config, tmp_path, capsys):
    folder = str(run(config(), {"run.epochs": 1}, quiet=True).folder)
    (tmp_path / "letters.txt").unlink()
    command = ["predict", folder, "--prompt", "abc", "--length", "5"]
    assert main([*command, "--json", "--best", "--top-k", "3", "--seed", "7"]) == 0
    assert capsys.readouterr().out.startswith('{"prompt": "abc", "text": "abc')
    for extra, message in [
        (["--count", "3"], "--prompt cannot be combined with FILE or --count"),
        (["--temperature", "-1"], "'temperature' parameter of generate must be >= 0"),
    ]:
        assert main([*command, *extra]) == 2
        assert message in capsys.readouterr().err
    assert main(["predict", folder, "--prompt", ""]) == 2
    assert "a prompt that is not empty" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["eval", "predict", "resume"])
def test_a_run_is_not_measured_on_the_tokens_of_another_text(config, tmp_path, capsys, command):
    folder = run(config(), {"run.epochs": 1}, quiet=True).folder
    kept = (folder / "tokenizer.json").read_bytes()
    (tmp_path / "letters.txt").write_text("klmnopqrstu" * 300, encoding="utf-8")
    assert main([command, str(folder)]) == 2
    message = capsys.readouterr().err
    assert message.startswith("the text has changed since the run began: its tokens (12) are not")
    assert "tokenizer.json" in message
    assert (folder / "tokenizer.json").read_bytes() == kept
    (tmp_path / "letters.txt").write_text(LETTERS * 200, encoding="utf-8")
    told = "the training set of Text has changed since the run: it has 202 examples, and had 303"
    force = ["--force"] if command == "resume" else []
    with pytest.warns(ChangedWarning, match=told):  # another text of the same characters
        assert main([command, str(folder), *force]) == 0


def test_a_text_that_is_gone_is_told_without_the_insides_of_python(config, tmp_path, capsys):
    folder = run(config(), {"run.epochs": 1}, quiet=True).folder
    (tmp_path / "letters.txt").unlink()
    assert main(["eval", str(folder)]) == 2
    message = capsys.readouterr().err
    assert "data.path: Text refused its arguments. FileNotFoundError: [Errno 2] No such" in message
    assert "File " not in message


def test_byte_pairs_are_the_same_tokens_after_they_were_stored(config, capsys):
    overrides = {"data.level": "byte_pair", "data.vocab_size": 270, "model.vocab_size": 270}
    folder = run(config(), {"run.epochs": 1, **overrides}, quiet=True).folder
    assert main(["eval", str(folder)]) == 0


def test_only_runs_on_texts_have_a_prompt(write, digits, capsys):
    folder = run(write(digits), {"run.epochs": 1}, quiet=True).folder
    assert main(["predict", str(folder), "--prompt", "a"]) == 2
    assert "has no tokenizer.json: its data set is not a text" in capsys.readouterr().err
    (folder / "tokenizer.json").write_text("{")
    assert main(["predict", str(folder), "--prompt", "a"]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_samples_leave_no_trace(config):
    shown, plain = (run(config(show=s), {"run.epochs": 2}, quiet=True) for s in (SHOW, ""))
    assert shown.metrics == plain.metrics


def test_the_loss_of_sequences_is_the_mean_over_all_tokens():
    tokens = tn.randint(0, 5, (3, 7))
    scores = tn.randn(3, 5, 7)
    found = evaluate(nn.Identity(), nn.CrossEntropyLoss(), [(scores, tokens)])
    rows, flat = scores.transpose(1, 2).reshape(21, 5), tokens.reshape(21)
    assert found["loss"] == near(nn.functional.cross_entropy(rows, flat).item(), 2 * (21 + STEPS))
    assert found["accuracy"] == near((rows.argmax(1) == flat).float().mean().item())


def test_predictions_of_a_language_model_are_text(config, capsys):
    folder = str(run(config(), {"run.epochs": 1}, quiet=True).folder)
    assert main(["predict", folder, "--count", "1", "--json"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert {*row} == {"example", "text", "target_text"}
    assert len(row["text"]) == len(row["target_text"]) == 8
    assert {*row["target_text"]} <= {*LETTERS}
    assert main(["predict", folder, "--count", "1"]) == 0
    assert capsys.readouterr().out == f"0: {row['text']!r}, should be {row['target_text']!r}\n"


# ---- what is shown ----


class Recorder:
    """Instead of a writer: the last text or embedding."""

    def add_text(self, tag, text, step):
        self.text = text

    def add_embedding(self, vectors, metadata, tag):
        self.vectors, self.names = vectors, metadata


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("red green blue " * 30, encoding="utf-8")
    examples = data.SkipGrams(file, held_out=0, subsample=None)
    net = SkipGram(vocab_size=5, width=2)
    with tn.no_grad():
        net.words.weight.copy_(tn.tensor([[1.0, 0], [0, 1], [5, 1], [9, 9], [9, 9]]))
    return Moment(net, Recorder(), 0, 1, examples, examples)


def test_neighbours(words):
    Neighbours(["red", "pink", "green"], count=5).show(words)
    assert words.writer.text.splitlines()[2:] == [
        "| **red** | blue green |",
        "| **pink** | (unknown) |",
        "| **green** | blue red |",
    ]


def test_the_projector_gets_vectors_with_names(words):
    Projector().show(words)
    assert words.writer.names == ["red", "green", "blue"]
    assert words.writer.vectors.tolist() == [[1, 0], [0, 1], [5, 1]]
    Projector("contexts", count=2).show(words)
    assert words.writer.names == ["red", "green"]


def test_what_the_exhibits_of_vectors_refuse(words):
    with pytest.raises(ValueError, match="no embedding 'table'; it has: words, contexts"):
        Projector("table").show(words)
    with pytest.raises(ValueError, match=r"none of \['pink'\] is in the vocabulary of 3 words"):
        Neighbours(["pink"]).show(words)
    digits = data.Digits(train=False)
    plain = Moment(nn.Linear(1, 1), Recorder(), 0, 1, digits, digits)
    with pytest.raises(ValueError, match="the model has no embedding ''; it has: none"):
        Projector().show(plain)
    with pytest.raises(ValueError, match="must have a vocabulary"):
        Neighbours(["a"]).show(plain)
    with pytest.raises(ValueError, match="must have a tokenizer"):
        SampledText().show(plain)
    with pytest.raises(ValueError, match="'count' parameter of Projector must be >= 1"):
        Projector(count=0)


def test_a_model_that_writes_no_text_is_told_before_training(write, digits):
    path = write(digits + '\n[[evaluation.show]]\ntype = "SampledText"\n')
    with pytest.raises(UsageError, match=r"show.0: SampledText cannot be shown.*a tokenizer"):
        run(path, quiet=True)


def test_a_run_on_words_keeps_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, path = tmp_path / "words.txt", tmp_path / "words.toml"
    text.write_text("red green blue größer " * 60, encoding="utf-8")
    path.write_text("""
        run = {epochs = 1}
        data = {type = "SkipGrams", path = "words.txt", vocab_size = 9, batch_size = 16}
        model = {type = "SkipGram", vocab_size = 9, width = 2}
        loss = {type = "BCEWithLogitsLoss"}
        optimizer = {type = "SparseAdam"}
    """)
    folder = run(path, {"data.subsample": 1.0}, quiet=True).folder
    kept = (folder / "vocabulary.json").read_text(encoding="utf-8")
    assert json.loads(kept) == data.SkipGrams(text, vocab_size=9).vocabulary
    assert "größer" in kept
    assert main(["eval", str(folder)]) == 0
    text.write_text("red green blue yellow " * 60, encoding="utf-8")
    for command in ("eval", "predict", "resume"):
        assert main([command, str(folder)]) == 2
        message = capsys.readouterr().err
        assert message.startswith(
            "the text has changed since the run began: its words are not those"
        )
    assert (folder / "vocabulary.json").read_text(encoding="utf-8") == kept
