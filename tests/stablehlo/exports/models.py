"""Models: forward passes, losses, training steps; and programs whose sizes are open."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import add, add_polymorphic, integers, normal, tree


def layer(name, n, m, dtype="float32"):
    return {"w": normal(name + "w", n, m, scale=n**-0.5, dtype=dtype), "b": normal(name + "b", m, scale=0.1, dtype=dtype)}


def dense(p, x):
    return x @ p["w"] + p["b"]


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def model(name, function, params, *args, **options):
    flat, leaves = tree(function, params)
    add(name, flat, *leaves, *args, **options)


def sgd(loss, rate=0.1):
    def step(params, *args):
        value, grads = jax.value_and_grad(loss)(params, *args)
        return value, jax.tree.map(lambda p, g: p - rate * g, params, grads)

    return step


def adam(loss):
    def step(state, *args):
        params, m, v, t = state
        value, g = jax.value_and_grad(loss)(params, *args)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        scale = jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        params = jax.tree.map(lambda p, m, v: p - 0.01 * scale * m / (jnp.sqrt(v) + 1e-3), params, m, v)
        return value, (params, m, v, t)

    return step


X, LABELS = normal("batch", 6, 8), integers("labels", 0, 4, 6)
MLP = [layer("1", 8, 16), layer("2", 16, 4)]


def mlp(p, x):
    return dense(p[1], jax.nn.relu(dense(p[0], x)))


def mlp_loss(p, x, y):
    return cross_entropy(mlp(p, x), y)


def smooth_loss(p, x, y):
    return cross_entropy(dense(p[1], jnp.tanh(dense(p[0], x))), y)


model("mlp", mlp, MLP, X)
model("mlp_loss", mlp_loss, MLP, X, LABELS, tolerance=2)
model("mlp_sgd_step", sgd(smooth_loss), MLP, X, LABELS, tolerance=4)
zeros = jax.tree.map(np.zeros_like, MLP)
model("mlp_adam_step", adam(smooth_loss), (MLP, zeros, zeros, np.float32(0)), X, LABELS, grad=False, tolerance=20)
model("mlp_f64", mlp_loss, jax.tree.map(lambda p: p.astype("float64"), MLP), X.astype("float64"), LABELS)
model("mlp_bf16", mlp, jax.tree.map(lambda p: p.astype(jnp.bfloat16), MLP), X.astype(jnp.bfloat16), tolerance=2)
model("mlp_training_loop", lambda p, x, y: lax.scan(lambda p, _: (lambda v, p: (p, v))(*sgd(smooth_loss)(p, x, y)), p, None,
                                                    length=5), MLP, X, LABELS, grad=False, tolerance=8)
model("regression_hessian", lambda w, x, y: jax.hessian(lambda w: jnp.mean(jax.nn.softplus(-y * (x @ w))))(w), normal("lr", 8), X,
      np.sign(normal("lry", 6)), tolerance=4, slow=True)

CNN = {"c1": normal("cnn1", 3, 3, 1, 4, scale=0.3), "c2": normal("cnn2", 3, 3, 4, 8, scale=0.2), "out": layer("cnn", 8 * 4, 4)}
IMAGES = normal("images", 3, 8, 8, 1)


def cnn(p, x):
    for kernel in ("c1", "c2"):
        x = lax.conv_general_dilated(x, p[kernel], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return dense(p["out"], x.reshape(x.shape[0], -1))


model("cnn", cnn, CNN, IMAGES)
model("cnn_sgd_step", sgd(lambda p, x, y: cross_entropy(cnn(p, x), y)), CNN, IMAGES, LABELS[:3], grad=False, tolerance=8, slow=True)


def smooth_cnn(p, x):
    x = lax.conv_general_dilated(x, p["c1"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = lax.conv_general_dilated(jnp.tanh(x), p["c2"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return dense(p["out"], jnp.tanh(x).reshape(x.shape[0], -1))


model("cnn_smooth_step", sgd(lambda p, x, y: cross_entropy(smooth_cnn(p, x), y)), CNN, IMAGES, LABELS[:3], tolerance=8, slow=True)

WIDTH, HEADS, LENGTH, VOCABULARY = 8, 2, 5, 11
TRANSFORMER = {
    "embed": normal("embed", VOCABULARY, WIDTH, scale=0.5), "position": normal("position", LENGTH, WIDTH, scale=0.1),
    "blocks": [{"qkv": layer(f"qkv{i}", WIDTH, 3 * WIDTH), "out": layer(f"out{i}", WIDTH, WIDTH),
                "up": layer(f"up{i}", WIDTH, 16), "down": layer(f"down{i}", 16, WIDTH),
                "g1": np.ones(WIDTH, "float32"), "g2": np.ones(WIDTH, "float32")} for i in range(2)]
}
TOKENS = integers("tokens", 0, VOCABULARY, 2, LENGTH)


def norm(x, g):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g


def attention(p, x):
    b, n, d = x.shape
    q, k, v = jnp.split(dense(p["qkv"], x).reshape(b, n, 3 * HEADS, d // HEADS), 3, axis=2)
    scores = jnp.einsum("bihd,bjhd->bhij", q, k) / float(np.sqrt(d // HEADS))
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e9)
    return dense(p["out"], jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), v).reshape(b, n, d))


def transformer(p, tokens):
    x = p["embed"][tokens] + p["position"][:tokens.shape[1]]
    for block in p["blocks"]:
        x = x + attention(block, norm(x, block["g1"]))
        x = x + dense(block["down"], jax.nn.gelu(dense(block["up"], norm(x, block["g2"]))))
    return x @ p["embed"].T


def next_token_loss(p, tokens):
    logits = transformer(p, tokens)[:, :-1]
    return cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].ravel())


model("transformer", transformer, TRANSFORMER, TOKENS, tolerance=8)
model("transformer_loss", next_token_loss, TRANSFORMER, TOKENS, tolerance=8, slow=True)
model("transformer_sgd_step", sgd(next_token_loss), TRANSFORMER, TOKENS, tolerance=40, slow=True)
model("transformer_remat_step", sgd(lambda p, t: jax.checkpoint(next_token_loss)(p, t)), TRANSFORMER, TOKENS, grad=False,
      tolerance=8, slow=True)
zeros = jax.tree.map(np.zeros_like, TRANSFORMER)
model("transformer_adam_step", adam(next_token_loss), (TRANSFORMER, zeros, zeros, np.float32(0)), TOKENS, grad=False,
      tolerance=200, slow=True)
add("attention_dot_product", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), normal("q", 2, 5, 2, 4),
    normal("ak", 2, 5, 2, 4), normal("av", 2, 5, 2, 4), tolerance=4)
add("attention_grouped", lambda q, k, v: jax.nn.dot_product_attention(q, k, v), normal("q", 2, 5, 4, 4),
    normal("ak", 2, 5, 2, 4), normal("av", 2, 5, 2, 4), tolerance=4)


def rotary(x):
    n, d = x.shape
    angle = jnp.arange(n)[:, None] * 10000.0**(-jnp.arange(d // 2) / (d // 2))
    a, b = jnp.split(x, 2, axis=1)
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], 1)


add("rotary", lambda x: rotary(x).astype("float32"), X)

LSTM = layer("lstm", 8 + 8, 32)


def lstm(p, xs):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(dense(p, jnp.concatenate([x, h], 1)), 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((xs.shape[1], 8), xs.dtype)
    return lax.scan(step, (zero, zero), xs)[1]


model("lstm", lstm, LSTM, normal("sequence", 4, 2, 8), tolerance=4)
model("lstm_step", sgd(lambda p, xs: jnp.mean(lstm(p, xs)**2)), LSTM, normal("sequence", 4, 2, 8), tolerance=8, slow=True)
model("autoencoder", lambda p, x: jnp.mean((dense(p[1], jax.nn.sigmoid(dense(p[0], x))) - x)**2),
      [layer("enc", 8, 3), layer("dec", 3, 8)], X)
model("variational_autoencoder", lambda p, x, k: jnp.mean((dense(p[1], dense(p[0], x) + 0.1 * jax.random.normal(
    jax.random.wrap_key_data(k), (6, 3), "float32")) - x)**2), [layer("enc", 8, 3), layer("dec", 3, 8)], X, np.array([0, 1], "uint32"),
      tolerance=4)
add("batch_norm", lambda x, g, b: (x - x.mean(0)) * lax.rsqrt(x.var(0) + 1e-3) * g + b, X, np.ones(8, "float32"),
    normal("beta", 8), tolerance=8)
add("rms_norm", lambda x, g: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g, X, normal("gain", 8), tolerance=4)
add("moe_routing", lambda x, w, e: jnp.einsum("td,tdf->tf", x, e[jnp.argmax(x @ w, 1)]), X, normal("router", 8, 3),
    normal("experts", 3, 8, 4))
add("gaussian_process", lambda x, y: (lambda c: -0.5 * jnp.dot(y, jax.scipy.linalg.cho_solve((c, True), y)) - jnp.log(
    jnp.diag(c)).sum())(jnp.linalg.cholesky(jnp.exp(-0.5 * (x[:, None] - x)**2) + 0.1 * jnp.eye(x.size))),
    normal("gp", 6, dtype="float64"), normal("gpy", 6, dtype="float64"), tolerance=8)
add("kalman", lambda z: lax.scan(lambda s, z: (lambda k: ((s[0] + k * (z - s[0]), (1 - k) * (s[1] + 0.1)), s[0]))(
    (s[1] + 0.1) / (s[1] + 0.6)), (jnp.float32(0), jnp.float32(1)), z)[1], normal("kalman", 8))
add("k_means_step", lambda x, c: (lambda a: jax.ops.segment_sum(x, a, 3) / jnp.maximum(1, jnp.bincount(a, length=3))[:, None])(
    jnp.argmin(((x[:, None] - c)**2).sum(-1), 1)), X, normal("centers", 3, 8), grad=False, tolerance=2)
add("beam_step", lambda s, l: lax.top_k((s[:, None] + jax.nn.log_softmax(l)).ravel(), 3), normal("beams", 3), normal("bl", 3, 7))
add("quantized_dense", lambda x, w, s: (lax.dot(jnp.clip(jnp.round(x / 0.05), -127, 127).astype(jnp.int8), w,
                                                preferred_element_type=jnp.int32).astype(jnp.float32) * 0.05) * s, X,
    integers("qw", -127, 128, 8, 4, dtype="int8"), np.abs(normal("qs", 4)), grad=False)

# Sizes are open: an export serves all of them.
flat, leaves = tree(mlp, MLP)
add_polymorphic("open_mlp", flat, [None] * 4 + ["b, 8"], [*leaves, normal("p1", 3, 8)], [*leaves, normal("p2", 7, 8)])
flat, leaves = tree(smooth_loss, MLP)
add_polymorphic("open_loss", flat, [None] * 4 + ["b, 8", "b"], [*leaves, normal("p1", 3, 8), LABELS[:3]],
                [*leaves, normal("p2", 5, 8), LABELS[:5]], tolerance=2)
add_polymorphic("open_softmax", jax.nn.softmax, ["b, n"], [normal("o1", 2, 3)], [normal("o2", 4, 1)], tolerance=2)
add_polymorphic("open_matmul", lambda x, y: x @ y, ["n, k", "k, m"], [normal("o3", 2, 3), normal("o4", 3, 4)],
                [normal("o5", 5, 1), normal("o6", 1, 2)])
add_polymorphic("open_reshape", lambda x: x.reshape(-1, 2).sum(0) + x.shape[0], ["b, 4"], [normal("o7", 3, 4)], [normal("o8", 5, 4)])
add_polymorphic("open_arange", lambda x: x * jnp.arange(x.shape[0], dtype="float32"), ["n"], [normal("o9", 3)], [normal("oa", 9)])
add_polymorphic("open_concatenate", lambda x, y: jnp.concatenate([x, y, x]), ["a", "b"], [normal("ob", 3), normal("oc", 2)],
                [normal("od", 1), normal("oe", 4)])
add_polymorphic("open_slice", lambda x: (x[1:], x[::2], x[: x.shape[0] // 2]), ["n"], [normal("of", 5)], [normal("og", 8)])
add_polymorphic("open_pad", lambda x: jnp.pad(x, (1, 2)), ["n"], [normal("oh", 3)], [normal("oi", 6)])
add_polymorphic("open_broadcast", lambda x: jnp.broadcast_to(x[:, None], (x.shape[0], x.shape[0])) + jnp.eye(x.shape[0]), ["n"],
                [normal("oj", 3)], [normal("ok", 2)])
add_polymorphic("open_cumsum", lambda x: jnp.cumsum(x, 0), ["n, 2"], [normal("ol", 3, 2)], [normal("om", 5, 2)])
add_polymorphic("open_sort", lambda x: jnp.sort(x), ["n"], [normal("on", 5)], [normal("oo", 9)])
add_polymorphic("open_gather", lambda x, i: x[i], ["n, 3", "m"], [normal("op", 4, 3), np.array([1, 3], "int32")],
                [normal("oq", 2, 3), np.array([0, 1, 1], "int32")])
add_polymorphic("open_scan", lambda xs: lax.scan(lambda c, x: (c * 0.5 + x, c), jnp.zeros(3, "float32"), xs), ["n, 3"],
                [normal("or", 4, 3)], [normal("os", 2, 3)])
add_polymorphic("open_conv", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "VALID"), ["b, 1, 5, 5", None],
                [normal("ot", 2, 1, 5, 5), normal("ou", 2, 1, 3, 3)], [normal("ov", 3, 1, 5, 5), normal("ou", 2, 1, 3, 3)])
add_polymorphic("open_mean", lambda x: x.mean(0), ["b, 3"], [normal("ow", 4, 3)], [normal("ox", 2, 3)])
add_polymorphic("open_attention", lambda q, k: jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((q.shape[0], ) * 2, bool)), q @ k.T, -1e9)),
                ["n, 4", "n, 4"], [normal("oy", 3, 4), normal("oz", 3, 4)], [normal("o0", 5, 4), normal("o1", 5, 4)], tolerance=4)
add_polymorphic("open_multiple", lambda x: x.reshape(2, -1), ["2*n"], [normal("m1", 6)], [normal("m2", 4)])
