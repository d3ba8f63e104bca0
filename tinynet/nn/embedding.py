"""Embedding: a table of vectors, looked up by index."""

from __future__ import annotations

from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.functional.lookup import padding_row, refuse_sparse
from tinynet.nn.module import Module
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation import empty


class Embedding(Module):
    """A table of vectors, one for each index. They start from N(0, 1).

    Args:
        num_embeddings: number of vectors.
        embedding_dim: length of each.
        padding_idx: an index whose vector starts at zero and gets no gradient.
        max_norm: before each look-up, the vectors that are used and longer than this are shortened
            to it. The weight is written in place: to differentiate through the weight itself as
            well, use a copy of it (``weight.clone()``).
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide the gradient of a vector by how often it is used in the batch.
        sparse: only False.
        device: only the cpu.
        dtype: of the weight; the default dtype unless given.

    Shape:
        ``[...]`` (int64 or int32) to ``[..., embedding_dim]``.

    Attributes:
        weight: ``[num_embeddings, embedding_dim]``.

    Example:
        >>> table = nn.Embedding(10, 3)
        >>> table(tn.tensor([[1, 2], [4, 5]])).shape
        tinynet.Size([2, 2, 3])
    """

    weight: Parameter

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
        refuse_sparse(sparse)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            made = empty(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.weight = Parameter(made, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw new vectors; that of the padding index becomes zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Any) -> Any:
        """Return the vectors of the indices."""
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
        """Return the sizes, and what is not at its default."""
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
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
        """Return an Embedding whose weight shares the memory of given vectors.

        Args:
            embeddings: ``[num_embeddings, embedding_dim]``.
            freeze: do not train them.
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
