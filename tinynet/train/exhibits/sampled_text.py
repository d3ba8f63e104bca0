"""Text that a language model makes up."""

from __future__ import annotations

import textwrap

from tinynet.data import Tokenizer
from tinynet.train.exhibits.exhibit import Exhibit, Moment
from tinynet.train.report.generation import generate_text


class SampledText(Exhibit):
    """A text that begins with a prompt, and goes on as the model draws token by token.

    The draws follow from `seed` at each measurement, so that what changes is the model.

    Args:
        prompt: what the text begins with.
        length: how many tokens are drawn.
        temperature: below 1, likely tokens become likelier; at 0, the likeliest is taken.
        top_k: only the so many likeliest tokens are drawn.
        seed: what the draws follow from.
        tag: what TensorBoard calls the text.

    Raises:
        ValueError: the data set has no tokenizer, or the model is no language model.
    """

    def __init__(
        self,
        prompt: str = "\n",
        length: int = 300,
        temperature: float = 0.8,
        top_k: int | None = None,
        seed: int = 0,
        tag: str = "samples",
    ) -> None:
        self.prompt = prompt
        self.length = length
        self.temperature = temperature
        self.top_k = top_k
        self.seed = seed
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the text, as it is: Markdown shows what is indented without interpreting it."""
        tokenizer = at.about("tokenizer")
        if not isinstance(tokenizer, Tokenizer):
            raise ValueError("the data set must have a tokenizer, as data.Text does")
        text = generate_text(
            at.model,
            tokenizer,
            self.prompt,
            self.length,
            temperature=self.temperature,
            top_k=self.top_k,
            seed=self.seed,
        )
        at.writer.add_text(self.tag, textwrap.indent(text, "    ", lambda line: True), at.step)
