"""The perceptron in MLX, with mx.compile where MLX_PEER=compile. compare.py preloads OpenBLAS: MLX's wheel
has the reference BLAS, which is 17 times slower."""

import os

import mlx.core as mx

from serve import integers, main, uniform

mx.set_default_device(mx.cpu)


def mlp(batch):
    def loss(p, x, y):
        w1, b1, w2, b2, w3, b3 = p
        h = mx.maximum(x @ w1 + b1, 0)
        h = mx.maximum(h @ w2 + b2, 0)
        logits = h @ w3 + b3
        return (mx.logsumexp(logits, -1) - mx.take_along_axis(logits, y[:, None], -1)[:, 0]).mean()

    def step(p, m, v, t, x, y):
        value, g = mx.value_and_grad(loss)(p, x, y)
        t = t + 1
        rate = 1e-3 * mx.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        p = [p - rate * a / (mx.sqrt(b) + 1e-8) for p, a, b in zip(p, m, v)]
        return value, p, m, v, t

    if os.environ.get("MLX_PEER") == "compile":
        step = mx.compile(step)
    p = [mx.array(uniform(1, 784, 512, scale=0.08)), mx.zeros(512), mx.array(uniform(2, 512, 512, scale=0.1)),
         mx.zeros(512), mx.array(uniform(3, 512, 10, scale=0.1)), mx.zeros(10)]
    state = p, [mx.zeros_like(a) for a in p], [mx.zeros_like(a) for a in p], mx.array(0.0)
    data = mx.array(uniform(101, batch, 784)), mx.array(integers(102, batch, bound=10))
    mx.eval(state, data)

    def run(_):
        nonlocal state
        value, *state = step(*state, *data)
        mx.eval(value, state)
        return value.item()

    return run


main(dict(mlp=mlp))
