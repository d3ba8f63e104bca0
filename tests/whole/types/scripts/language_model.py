"""A small GPT: attention by hand, a mask and positions in buffers, generation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import tinynet as tn
import tinynet.nn as nn
from tinynet.nn import functional as F


@dataclass
class GPTConfig:
    block_size: int = 16
    vocab_size: int = 30
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16
    dropout: float = 0.0
    bias: bool = True


class LayerNorm(nn.Module):
    def __init__(self, ndim: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(tn.ones(ndim))
        self.bias = nn.Parameter(tn.zeros(ndim)) if bias else None

    def forward(self, input: tn.Tensor) -> tn.Tensor:
        return F.layer_norm(input, self.weight.shape, self.weight, self.bias, 1e-5)


class CausalSelfAttention(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.n_head = config.n_head
        mask = tn.tril(tn.ones(config.block_size, config.block_size))
        self.register_buffer("mask", mask.view(1, 1, config.block_size, config.block_size))

    def forward(self, x: tn.Tensor) -> tn.Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = tn.einsum("bhij,bhjd->bhid", att, v)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class Block(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.ln_1 = LayerNorm(config.n_embd, bias=config.bias)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = LayerNorm(config.n_embd, bias=config.bias)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * config.n_embd, config.n_embd),
            nn.Dropout(config.dropout),
        )

    def forward(self, x: tn.Tensor) -> tn.Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    positions: tn.Tensor

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict(
            dict(
                wte=nn.Embedding(config.vocab_size, config.n_embd),
                wpe=nn.Embedding(config.block_size, config.n_embd),
                h=nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
                ln_f=LayerNorm(config.n_embd, bias=config.bias),
            )
        )
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight
        self.register_buffer("positions", tn.arange(config.block_size), persistent=False)
        self.apply(self._init_weights)
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * config.n_layer))

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(
        self, idx: tn.Tensor, targets: tn.Tensor | None = None
    ) -> tuple[tn.Tensor, tn.Tensor | None]:
        _, t = idx.shape
        pos = self.positions[:t]
        x = self.transformer.wte(idx) + self.transformer.wpe(pos)
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss

    @tn.no_grad()
    def generate(
        self,
        idx: tn.Tensor,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> tn.Tensor:
        for _ in range(max_new_tokens):
            idx_cond = idx if idx.size(1) <= self.config.block_size else idx[:, -16:]
            logits, _ = self(idx_cond)
            logits = logits[:, -1, :] / temperature
            if top_k is not None:
                v, _ = tn.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("inf")
            probs = F.softmax(logits, dim=-1)
            idx_next = tn.multinomial(probs, num_samples=1)
            idx = tn.cat((idx, idx_next), dim=1)
        return idx


def get_batch(data: tn.Tensor, config: GPTConfig, batch_size: int) -> tuple[tn.Tensor, tn.Tensor]:
    ix = tn.randint(len(data) - config.block_size, (batch_size,))
    x = tn.stack([data[i : i + config.block_size] for i in ix])
    y = tn.stack([data[i + 1 : i + 1 + config.block_size] for i in ix])
    return x, y


def main() -> None:
    tn.manual_seed(1337)
    text = "the quick brown fox jumps over the lazy dog. " * 20
    chars = sorted(set(text))
    stoi = {ch: i for i, ch in enumerate(chars)}
    data = tn.tensor([stoi[c] for c in text], dtype=tn.long)
    config = GPTConfig(vocab_size=len(chars))
    model = GPT(config)
    optimizer = tn.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
    for step in range(5):
        xb, yb = get_batch(data, config, 8)
        _, loss = model(xb, yb)
        assert loss is not None
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"{step}: {loss.item():.2f}")
    model.eval()
    context = tn.zeros((1, 1), dtype=tn.long)
    out = model.generate(context, 20, temperature=0.8, top_k=5)[0].tolist()
    print("".join(chars[i] for i in out))


if __name__ == "__main__":
    main()
