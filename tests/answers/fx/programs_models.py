"""The code of models as people write them."""

from __future__ import annotations

from tests.answers.fx.packages import fx_of, texts
from tests.tools.recorded.programs import Family

program = Family(__name__, composition=False)


def module(T, forward, **members):
    """Return a module with members and a method ``forward``."""

    class Model(T.nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in members.items():
                setattr(self, name, value)

    Model.forward = forward
    return Model()


@program
def autoencoders(T):
    nn = T.nn

    def forward(self, x):
        mean, log = self.mean(x), self.log(x)
        return mean + T.randn_like(mean) * T.exp(0.5 * log), mean, log

    variational = texts(T, module(T, forward, mean=nn.Linear(4, 2), log=nn.Linear(4, 2)))
    again = fx_of(T).symbolic_trace(module(T, forward, mean=nn.Linear(4, 2), log=nn.Linear(4, 2)))
    twice = texts(T, again)
    return dict(variational=variational, twice=twice)


@program
def transformers_by_hand(T):
    nn, F = T.nn, T.nn.functional

    def forward(self, idx, targets=None):
        b, t = idx.size()
        x = self.embedding(idx) + self.position[:, :t]
        q, k, v = self.attend(x).split(8, dim=2)
        q, k, v = (y.view(b, t, 2, 4).transpose(1, 2) for y in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / 4**0.5)
        scores = scores.masked_fill(self.mask[:4, :4] == 0, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, 8)
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.1, is_causal=True)
        logits = self.head(self.norm(x + y + z.flatten(2)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    members = {
        "embedding": nn.Embedding(10, 8),
        "position": nn.Parameter(T.zeros(1, 16, 8)),
        "attend": nn.Linear(8, 24),
        "norm": nn.LayerNorm(8),
        "head": nn.Linear(8, 10, bias=False),
        "mask": T.tril(T.ones(16, 16)),
    }
    model = module(T, forward, **members)
    code, special = texts(T, model), texts(T, model, {"targets": None})
    return dict(code=code, special=special)


@program
def recurrent_and_convolutional_models(T):
    nn, F = T.nn, T.nn.functional

    def steps(self, x, h=None):
        out, (h, c) = self.lstm(x)
        outputs = []
        for i in range(3):
            h = self.cell(out[i], h[0])
            outputs.append(h)
        return T.stack(outputs)

    def unet(self, x):
        a = F.relu(self.down(x))
        b = F.max_pool2d(a, 2)
        c = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        d = self.up(b)
        dy = a.size(2) - d.size(2)
        d = F.pad(d, [dy // 2, dy - dy // 2, 0, 0])
        return self.out(T.cat([d, c], 1)).sigmoid()

    recurrent = texts(T, module(T, steps, lstm=nn.LSTM(3, 4), cell=nn.GRUCell(4, 4)))
    down, up = nn.Conv2d(1, 4, 3, padding=1), nn.ConvTranspose2d(4, 4, 2, 2)
    convolutional = texts(T, module(T, unet, down=down, up=up, out=nn.Conv2d(8, 1, 1)))
    attention = texts(
        T, module(T, lambda self, x: self.a(x, x, x)[0], a=nn.MultiheadAttention(4, 2))
    )
    return dict(recurrent=recurrent, convolutional=convolutional, attention=attention)


@program
def shared_and_derived_layers(T):
    nn = T.nn

    def shared(self, x):
        for layer in self.layers:
            x = layer(x)
        bias = self.layers[1][0].bias
        return self.b(x) * self.list[0] + self.dict["k"] + self.a.weight.t()[0] + bias

    class Derived(nn.Linear):
        def forward(self, x):
            return super().forward(x) + self.bias

    a = nn.Linear(2, 2)
    members = {
        **{"a": a, "b": a, "layers": nn.ModuleList([a, nn.Sequential(nn.Linear(2, 2))])},
        "list": nn.ParameterList([nn.Parameter(T.ones(2))]),
        "dict": nn.ParameterDict({"k": nn.Parameter(T.ones(2))}),
    }
    twice = texts(T, module(T, shared, **members))
    derived = texts(T, module(T, lambda self, x: self.s(x), s=Derived(2, 2)))
    hooked = nn.Linear(2, 2)
    hooked.register_forward_hook(lambda module, args, output: output * 2)
    hooks = texts(T, module(T, lambda self, x: self.s(x), s=hooked))
    normed = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    parametrized = texts(T, module(T, lambda self, x: self.s(x), s=normed))
    return dict(twice=twice, derived=derived, hooks=hooks, parametrized=parametrized)


@program
def all_layers_taken_apart(T):
    fx, nn = fx_of(T), T.nn

    class Apart(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return False

    def code(*layers):
        net = nn.Sequential(*layers).eval()
        return fx.GraphModule(net, Apart().trace(net)).code

    plain = code(nn.Linear(2, 2), nn.ReLU(), nn.Dropout(), nn.GELU(), nn.LeakyReLU(), nn.SiLU())
    images = code(nn.Conv2d(1, 1, 1), nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1))
    others = code(nn.Flatten(), nn.LayerNorm(2), nn.Embedding(3, 2), nn.Identity(), nn.ELU())
    norms = code(nn.GroupNorm(1, 2), nn.PReLU(), nn.Softplus())
    sizes = code(nn.Upsample(scale_factor=2), nn.PixelShuffle(2), nn.ConvTranspose2d(1, 1, 1))
    return dict(plain=plain, images=images, others=others, norms=norms, sizes=sizes)


@program
def modes_devices_and_writes(T):
    F = T.nn.functional

    @T.no_grad()
    def quiet(x):
        return x * 2

    def within(x):
        with T.no_grad():
            y = x * 2
        return y

    def made(x):
        return T.zeros(3, device=x.device, dtype=x.dtype) + T.arange(3), T.empty_like(x)

    def written(x):
        x.add_(1)
        x.mul_(2)
        F.relu_(x)
        T.relu_(x)
        F.dropout(x, inplace=True)
        return T.add(x, 1, out=T.empty(3)), f"{x.shape}", x[..., 0].mT, x.dim(), x.ndim

    codes = [texts(T, f) for f in (quiet, within, made, written)]
    return dict(codes=codes)


@program
def training_and_evaluation(T):
    def forward(self, x, *, scale: float = 1.0):
        return T.nn.functional.dropout(x, p=0.2, training=self.training) * scale

    forward.__annotations__ = {"scale": float}
    model = module(T, forward)
    codes = texts(T, model), texts(T, model.eval())
    modes = [fx_of(T).symbolic_trace(m).training for m in (model, model.train())]
    return dict(codes=codes, modes=modes)
