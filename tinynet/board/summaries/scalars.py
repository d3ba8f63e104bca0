"""Scalars, texts and tensors, and the layout of the Custom Scalars tab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tinynet.board import tensorboardx
from tinynet.board.summaries.family import (
    Family,
    as_array,
    as_number,
    check_tag,
    string_proto,
    tensor_proto,
    type_name,
    walltime_or_now,
)

_LAYOUT_TAG = "custom_scalars__config__"


class Scalars(Family):
    """The methods of SummaryWriter for scalars, texts and tensors."""

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write one number.

        Args:
            tag: the name of the curve; `/` groups curves.
            scalar_value: an argument of `float`, or a one-element tensor or array.
            global_step: the position on the x axis; 0 by default.
            walltime: seconds since the epoch; now by default.
            new_style: write a tensor instead of the `simple_value` field.
            double_precision: with `new_style`, keep 64 bits; otherwise the value is stored as
                float32.

        Raises:
            AssertionError: the value does not have exactly one element.
            NotImplementedError: the value is neither a number nor a tensor or array.
            TypeError, ValueError, OverflowError: `float` refuses it; a note names the tag.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> from tinynet.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/example") as writer:
            ...     for step in range(3):
            ...         writer.add_scalar("train/loss", 1 / (step + 1), step)
        """
        check_tag(tag, "add_scalar")
        value = as_number(tag, scalar_value)
        if not new_style:
            self._summary(tag, global_step, walltime, simple_value=value)
            return
        field = {"double_val": [value]} if double_precision else {"float_val": [value]}
        dtype = "DT_DOUBLE" if double_precision else "DT_FLOAT"
        proto = tensorboardx.load().TensorProto(dtype=dtype, **field)
        metadata = tensorboardx.metadata("scalars")
        self._summary(tag, global_step, walltime, tensor=proto, metadata=metadata)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers as curves of one chart, each as a separate run in a subfolder.

        Args:
            main_tag: the name of the chart.
            tag_scalar_dict: curve name -> number, as in `add_scalar`.
            global_step: the position on the x axis; 0 by default.
            walltime: seconds since the epoch; now by default.
        """
        check_tag(main_tag, "add_scalars")
        when = walltime_or_now(walltime)
        values = {
            tag: as_number(f"{main_tag}/{tag}", value) for tag, value in tag_scalar_dict.items()
        }
        for tag, value in values.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            self._summary(main_tag, global_step, when, folder, simple_value=value)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a text for the Text tab, which renders it as Markdown.

        Args:
            tag: the name of the text.
            text_string: the text.
            global_step: the step; 0 by default.
            walltime: seconds since the epoch; now by default.

        Raises:
            TypeError: the text is not a `str`.
        """
        check_tag(tag, "add_text")
        if not isinstance(text_string, str):
            raise TypeError(
                "The 'text_string' parameter of add_text must be a str. "
                f"Got {type_name(text_string)} instead, for the tag {tag!r}."
            )
        content = tensorboardx.load().TextPluginData(version=0).SerializeToString()
        self._summary(
            f"{tag}/text_summary",
            global_step,
            walltime,
            tensor=string_proto(text_string.encode(), (1,)),
            metadata=tensorboardx.metadata("text", content),
        )

    def add_tensor(
        self,
        tag: str,
        tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a tensor, for programs that read event files; no tab shows it.

        Args:
            tag: the name of the tensor.
            tensor: a tensor or array of real numbers; dtype and shape are kept.
            global_step: the step; 0 by default.
            walltime: seconds since the epoch; now by default.
        """
        check_tag(tag, "add_tensor")
        proto = tensor_proto(as_array("add_tensor", "tensor", tensor))
        metadata = tensorboardx.metadata("tensor")
        self._summary(tag, global_step, walltime, tensor=proto, metadata=metadata)

    # ---- layouts -----------------------------------------------------------------------------

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Arrange curves in charts of the Custom Scalars tab; call it once, at any time.

        Args:
            layout: category -> chart -> `["Multiline", [tag, ...]]`, with regular expressions as
                tags, or `["Margin", [value, lower, upper]]`.

        Raises:
            AssertionError: a margin chart does not have three tags.
            ValueError: the kind of a chart is unknown.
        """
        messages = tensorboardx.load()
        categories = [
            messages.Category(
                title=title, chart=[_chart(name, *chart) for name, chart in charts.items()]
            )
            for title, charts in layout.items()
        ]
        content = messages.Layout(category=categories).SerializeToString()
        metadata = tensorboardx.metadata("custom_scalars")
        self._summary(_LAYOUT_TAG, None, None, tensor=string_proto(content), metadata=metadata)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show several curves in one chart of the Custom Scalars tab.

        Args:
            tags: the curves.
            category: the section of the chart.
            title: the title of the chart.
        """
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show a curve with an area around it in a chart of the Custom Scalars tab.

        Args:
            tags: three curves: the value, the lower and the upper bound.
            category: the section of the chart.
            title: the title of the chart.

        Raises:
            AssertionError: the number of curves is not three.
        """
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}. They are value, lower, upper.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})


def _chart(title: str, style: str, tags: Sequence[str]) -> Any:
    messages = tensorboardx.load()
    if style == "Multiline":
        return messages.Chart(title=title, multiline=messages.MultilineChartContent(tag=tags))
    if style != "Margin":
        raise ValueError(f"The chart {title!r} must be 'Multiline' or 'Margin'. Got {style!r}.")
    if len(tags) != 3:
        raise AssertionError(
            "len(tags) != 3. "
            f"The chart {title!r} must have three tags: value, lower, upper. Got {list(tags)}."
        )
    series = messages.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
    return messages.Chart(title=title, margin=messages.MarginChartContent(series=[series]))
