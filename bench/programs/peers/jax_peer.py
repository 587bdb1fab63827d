"""The programs in JAX: every step is one function under jax.jit, its state donated."""

from functools import partial

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
from jax import lax

from serve import integers, main, uniform

tree = jax.tree.map


def cross_entropy(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1)[..., 0]


def norm(x, scale, bias):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias


def update(model, m, v, t, g, decay):
    t = t + 1
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = tree(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    model = tree(lambda p, a, b: (1 - 1e-3 * decay) * p - rate * a / (jnp.sqrt(b) + 1e-8), model, m, v)
    return model, m, v, t


def train(model, loss, decay, *data):
    @partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def step(model, m, v, t, *data):
        value, g = jax.value_and_grad(loss)(model, *data)
        return value, *update(model, m, v, t, g, decay)

    state = tree(jnp.array, model), tree(jnp.zeros_like, model), tree(jnp.zeros_like, model), jnp.float32(0)
    data = tree(jnp.asarray, data)

    def run(_):
        nonlocal state
        value, *state = step(*state, *data)
        return float(value)

    return run


def iterate(step, state, *data):
    """Steps of (value, next state)."""
    step = jax.jit(step, donate_argnums=0)
    data = tree(jnp.asarray, data)
    state = tree(jnp.array, state)

    def run(_):
        nonlocal state
        value, state = step(state, *data)
        return float(value)

    return run


def call(f, read, base, *data):
    """f(data..., base + shift) for a shift that changes with every step."""
    f = jax.jit(f)
    data = tree(jnp.asarray, data)
    return lambda i: read(jax.block_until_ready(f(*data, type(base)(base + 1e-3 * (i % 100)))))


def last(x):
    return x.ravel()[-1]


def zeros(*shape):
    return np.zeros(shape, np.float32)


def ones(*shape):
    return np.ones(shape, np.float32)


def mlp(batch):
    model = [uniform(1, 784, 512, scale=0.08), zeros(512), uniform(2, 512, 512, scale=0.1), zeros(512),
             uniform(3, 512, 10, scale=0.1), zeros(10)]

    def loss(model, x, y):
        w1, b1, w2, b2, w3, b3 = model
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        return cross_entropy(h @ w3 + b3, y).mean()

    return train(model, loss, 0, uniform(101, batch, 784), integers(102, batch, bound=10))


def cnn(batch):
    model = [uniform(1, 3, 3, 1, 32, scale=0.5), zeros(32), uniform(2, 3, 3, 32, 64, scale=0.1), zeros(64),
             uniform(3, 3136, 10, scale=0.03), zeros(10)]

    def layer(x, k, b):
        x = lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + b
        return lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(model, x, y):
        k1, b1, k2, b2, w, b = model
        h = layer(layer(x, k1, b1), k2, b2)
        return cross_entropy(h.reshape(-1, 3136) @ w + b, y).mean()

    return train(model, loss, 0, uniform(101, batch, 28, 28, 1), integers(102, batch, bound=10))


def transformer(batch):
    def block(seed):
        return [ones(256), zeros(256), uniform(seed, 256, 768, scale=0.06), zeros(768),
                uniform(seed + 1, 256, 256, scale=0.06), zeros(256), ones(256), zeros(256),
                uniform(seed + 2, 256, 1024, scale=0.06), zeros(1024), uniform(seed + 3, 1024, 256, scale=0.03),
                zeros(256)]

    model = [uniform(1, 4096, 256, scale=0.035), zeros(128, 256), [block(2 + 4 * i) for i in range(4)], ones(256),
             zeros(256)]

    def heads(x):
        return x.reshape(-1, 128, 4, 64).transpose(0, 2, 1, 3)

    mask = jnp.tril(jnp.ones((128, 128), bool))

    def loss(model, words, following):
        embedding, positions, blocks, scale, bias = model
        x = embedding[words] + positions
        for s1, b1, qkv, qkv_b, out, out_b, s2, b2, up, up_b, down, down_b in blocks:
            q, k, v = jnp.split(norm(x, s1, b1) @ qkv + qkv_b, 3, -1)
            scores = jnp.where(mask, heads(q) @ heads(k).swapaxes(-1, -2) / 8, -1e30)
            mixed = (jax.nn.softmax(scores) @ heads(v)).transpose(0, 2, 1, 3).reshape(x.shape)
            x = x + mixed @ out + out_b
            x = x + jax.nn.gelu(norm(x, s2, b2) @ up + up_b, approximate=False) @ down + down_b
        return cross_entropy(norm(x, scale, bias) @ embedding.T, following).mean()

    return train(model, loss, 0.01, integers(101, batch, 128, bound=4096), integers(102, batch, 128, bound=4096))


def per_example(batch):
    model = [uniform(1, 256, 128, scale=0.1), zeros(128), uniform(2, 128, 10, scale=0.1), zeros(10)]

    def loss(model, x, y):
        w1, b1, w2, b2 = model
        return cross_entropy(jnp.tanh(x @ w1 + b1) @ w2 + b2, y)

    def clipped(model, x, y):
        value, g = jax.value_and_grad(loss)(model, x, y)
        norm = jnp.sqrt(sum((leaf * leaf).sum() for leaf in g))
        return value, tree(lambda leaf: leaf / jnp.maximum(norm, 1), g)

    def step(model, x, y):
        values, g = jax.vmap(clipped, (None, 0, 0))(model, x, y)
        return values.mean(), tree(lambda p, each: p - 0.1 * each.mean(0), model, g)

    return iterate(step, model, uniform(101, batch, 256), integers(102, batch, bound=10))


def hessian(_):
    def f(x, a):
        valley, off = x[1:] - x[:-1] ** 2, 1 - x[:-1]
        return (100 * valley**2 + off**2).sum() + jax.nn.logsumexp(a @ x)

    return call(lambda x, a, shift: jax.hessian(f)(x + shift, a), lambda h: h[0, 0] + h[199, 198], 0.0,
                uniform(101, 200, dtype=np.float64), uniform(1, 100, 200, dtype=np.float64))


def ode(_):
    def loss(rates, observed):
        def slope(s):
            prey, hunters = s
            return jnp.stack([prey * (rates[0] - rates[1] * hunters), hunters * (rates[2] * prey - rates[3])])

        def step(s, seen):
            h = 0.01
            k1 = slope(s)
            k2 = slope(s + h / 2 * k1)
            k3 = slope(s + h / 2 * k2)
            k4 = slope(s + h * k3)
            s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return s, ((s - seen) ** 2).sum()

        return lax.scan(step, jnp.array([1, 0.5]), observed)[1].mean()

    def step(rates, observed):
        value, g = jax.value_and_grad(loss)(rates, observed)
        return value, rates - 1e-3 * g

    return iterate(step, np.array([1.1, 0.4, 0.1, 0.4]), uniform(101, 1000, 2, dtype=np.float64))


def logistic(examples):
    def loss(w, x, y):
        logits = x @ w
        return (jax.nn.softplus(logits) - y * logits).mean()

    def step(w, x, y):
        value, g = jax.value_and_grad(loss)(w, x, y)
        return value, w - 0.5 * g

    return iterate(step, zeros(100), uniform(101, examples, 100), (uniform(102, examples) > 0).astype(np.float32))


def chain(n):
    return call(lambda x, y, z, a: jax.nn.relu(a * x + y) * z - 0.5 * x, last, np.float32(0), uniform(101, n),
                uniform(102, n), uniform(103, n))


def exp_chain(n):
    return call(lambda x, y, a: jnp.exp(-x * x) * a + jnp.tanh(y), last, np.float32(0), uniform(101, n),
                uniform(102, n))


def sum_(n):
    return call(lambda x, y, a: ((x - a) * y).sum(), float, np.float32(0), uniform(101, n), uniform(102, n))


def softmax(rows):
    return call(lambda x, a: jax.nn.softmax(x * a), last, np.float32(1), uniform(101, rows, 1024))


def softmax_gradient(rows):
    return call(lambda x, y, a: jax.grad(lambda x: (jax.nn.softmax(x) * y).sum())(x * a), last, np.float32(1),
                uniform(101, rows, 1024), uniform(102, rows, 1024))


def layer_norm(rows):
    return call(lambda x, s, b, a: norm(x + a, s, b), last, np.float32(0), uniform(101, rows, 1024), uniform(1, 1024),
                uniform(2, 1024))


def layer_norm_gradient(rows):
    def f(x, s, b, y, a):
        return jax.grad(lambda *args: (norm(*args) * y).sum(), (0, 1, 2))(x * a, s, b)

    return call(f, lambda g: sum(map(last, g)), np.float32(1), uniform(101, rows, 1024), uniform(1, 1024),
                uniform(2, 1024), uniform(102, rows, 1024))


main(dict(mlp=mlp, cnn=cnn, transformer=transformer, per_example=per_example, hessian=hessian, ode=ode,
          logistic=logistic, chain=chain, exp_chain=exp_chain, sum=sum_, softmax=softmax,
          softmax_gradient=softmax_gradient, layer_norm=layer_norm, layer_norm_gradient=layer_norm_gradient))
