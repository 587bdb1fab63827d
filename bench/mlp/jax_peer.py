"""The training step of mlp.cc in JAX: jax_peer.py STEPS [BATCH]. Prints processor time per step."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

steps = int(sys.argv[1])
batch = int(sys.argv[2]) if len(sys.argv) > 2 else 128
rng = np.random.default_rng(1)
sizes = [784, 512, 512, 10]
model = [(jnp.asarray(rng.normal(0, 0.05, (a, b)), jnp.float32), jnp.zeros(b, jnp.float32))
         for a, b in zip(sizes, sizes[1:])]


def loss(model, x, y):
    for i, (w, b) in enumerate(model):
        x = x @ w + b
        if i < 2:
            x = jax.nn.relu(x)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1))


def step(model, m, v, t, x, y):
    value, g = jax.value_and_grad(loss)(model, x, y)
    t = t + 1
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    model = jax.tree.map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), model, m, v)
    return value, model, m, v, t


zeros = jax.tree.map(jnp.zeros_like, model)
m, v, t = zeros, zeros, jnp.float32(0)
x = jnp.asarray(rng.normal(0, 1, (batch, 784)), jnp.float32)
y = jnp.asarray(rng.integers(0, 10, batch))
compiled = jax.jit(step, donate_argnums=(0, 1, 2, 3))
m, v = jax.tree.map(jnp.copy, m), jax.tree.map(jnp.copy, v)
for i in range(steps + 1):
    start = time.process_time()
    value, model, m, v, t = compiled(model, m, v, t, x, y)
    value.block_until_ready()
    ms = 1e3 * (time.process_time() - start)
    print(f"{'first' if i == 0 else 'step'} {ms:.3f} ms, loss {value:.6f}", flush=True)
