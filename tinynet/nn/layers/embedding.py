"""Embedding and EmbeddingBag: tables of vectors that are looked up by index."""

from __future__ import annotations

from typing import Any

from tinynet.core.devices import require_cpu
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional.lookup import padding_row
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Module):
    """A table of vectors, one per index, initialised from N(0, 1).

    Args:
        num_embeddings: number of vectors.
        embedding_dim: length of each.
        padding_idx: an index whose vector starts at zero and gets no gradient.
        max_norm: before each look-up, renormalise the selected vectors that are longer than this.
            The weight is changed in place; to differentiate through the weight as well, use a copy
            (``weight.clone()``).
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide the gradient of each vector by its frequency in the batch.
        sparse: make the gradient a sparse tensor of the selected rows, for ``optim.SGD``,
            ``Adagrad`` and ``SparseAdam``.
        device: must be the CPU.
        dtype: dtype of the weight; the default dtype unless given.

    Shape:
        ``[...]`` (int64 or int32) to ``[..., embedding_dim]``.

    Attributes:
        weight: ``[num_embeddings, embedding_dim]``.

    Raises:
        IndexError: an index is negative or not less than ``num_embeddings``.
        RuntimeError: the indices are neither int64 nor int32.
        AssertionError: ``padding_idx`` is out of range.

    Source: ``result[...] = weight[input[...]]``.

    Example:
        >>> table = nn.Embedding(10, 3)
        >>> table(tn.tensor([[1, 2], [4, 5]])).shape
        tinynet.Size([2, 2, 3])
    """

    weight: Parameter

    _expected_shapes = ("[...]",)
    _expected_dtype = "int64"

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if device is not None:
            require_cpu(device)
        if _weight is None:
            made = empty(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.weight = Parameter(made, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            _weight = _fitting(_weight, num_embeddings, embedding_dim)
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw new vectors, and zero that of the padding index."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """Look up the vectors of the indices."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Return the sizes and options that differ from their defaults."""
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse:
            parts.append("sparse=True")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Return an Embedding whose weight shares memory with the given vectors.

        Args:
            embeddings: ``[num_embeddings, embedding_dim]``.
            freeze: exclude the weight from training.
            padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: see the class.

        Example:
            >>> nn.Embedding.from_pretrained(tn.eye(3))(tn.tensor([1]))
            tensor([[0., 1., 0.]])
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(Module):
    """Sums, averages or maximises the vectors of each bag of indices.

    Equivalent to ``Embedding`` followed by a reduction that skips the padding. The vectors are
    initialised from N(0, 1).

    Args:
        num_embeddings: number of vectors.
        embedding_dim: length of each.
        max_norm, norm_type, scale_grad_by_freq, sparse: see ``Embedding``; maxima support neither
            scaled nor sparse gradients.
        mode: ``"sum"``, ``"mean"`` or ``"max"``. An empty bag gives 0.
        include_last_offset: whether ``offsets`` ends with the length of the input.
        padding_idx: an index to skip, whose vector starts at zero.
        device: must be the CPU.
        dtype: dtype of the weight; the default dtype unless given.

    Shape:
        Bags of one length ``[bags, length]`` (int64 or int32), or all indices ``[n]`` with offsets
        ``[bags]``, and for sums an optional weight per index; to ``[bags, embedding_dim]``.

    Attributes:
        weight: ``[num_embeddings, embedding_dim]``.

    Raises:
        RuntimeError: an index out of range, indices that are neither int64 nor int32, or offsets
            that do not begin with 0, decrease, reach beyond the input or, where the last one is
            included, end before it.
        ValueError: input and offsets of other dimensions, another mode, or ``"max"`` with
            ``sparse`` or ``scale_grad_by_freq``.
        NotImplementedError: weights per index in a mode other than ``"sum"``.
        AssertionError: ``padding_idx`` is out of range.

    Source: ``result[b] = sum(weight[i])`` over the indices i of bag b, or their mean or maximum.

    Example:
        >>> table = nn.EmbeddingBag(10, 3, mode="sum")
        >>> table(tn.tensor([1, 2, 4, 5, 4]), offsets=tn.tensor([0, 3])).shape
        tinynet.Size([2, 3])
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = padding_row(padding_idx, num_embeddings, "padding_idx")
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        if device is not None:
            require_cpu(device)
        if _weight is None:
            made = empty(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.weight = Parameter(made)
            self.reset_parameters()
        else:
            self.weight = Parameter(_fitting(_weight, num_embeddings, embedding_dim))

    def reset_parameters(self) -> None:
        """Draw new vectors, and zero that of the padding index."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Reduce the vectors of each bag."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Return the sizes, the mode, and options that differ from their defaults."""
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Return an EmbeddingBag whose weight shares memory with the given vectors.

        Args:
            embeddings: ``[num_embeddings, embedding_dim]``.
            freeze: exclude the weight from training.
            max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset,
                padding_idx: see the class.

        Example:
            >>> nn.EmbeddingBag.from_pretrained(tn.eye(3))(tn.tensor([[0, 1]]))
            tensor([[0.5000, 0.5000, 0.0000]])
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made


def _fitting(weight: Tensor, rows: int, columns: int) -> Tensor:
    """Return the weight; raise AssertionError if its shape is wrong."""
    if list(weight.shape) != [rows, columns]:
        raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
    return weight
