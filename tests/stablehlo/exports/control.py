"""Control flow, derivatives of the user's own, random numbers."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import add, normal

X = normal("cx", 5)
W = normal("cw", 5, 5, scale=0.4)

add("cond", lambda p, x: lax.cond(p > 0, lambda x: jnp.sin(x) * 2, lambda x: x * x, x), np.float32(1), X)
add("cond_not_taken", lambda p, x: lax.cond(p > 0, lambda x: jnp.sin(x) * 2, lambda x: x * x, x), np.float32(-1), X)
add("cond_pair", lambda p, x, y: lax.cond(p, lambda: (x, y.sum()), lambda: (y * x, x[0])), np.array(True), X, 2 * X)
for i in (-3, 0, 2, 9):
    add(f"switch_{i}".replace("-", "minus_"), lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * x], x), np.int32(i), X)
add("while", lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 1.5 + 0.1, jnp.abs(x)), X, grad=False)
add("while_counts", lambda x, n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.tanh(c[1] @ W)), (0, x)), X,
    np.int32(7), grad=False)
add("while_never", lambda x: lax.while_loop(lambda c: jnp.array(False), lambda c: c + 1, x), X, grad=False)
add("while_collatz", lambda n: lax.while_loop(lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1),
                                                                         c[1] + 1), (n, 0))[1], np.int32(27))
add("while_batched", lambda n: jax.vmap(lambda n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 1.5), (0, 1.0)))(n),
    np.array([3, 0, 5], "int32"))
add("fori", lambda x: lax.fori_loop(0, 6, lambda i, c: jnp.tanh(c @ W) + i * 0.1, x), X, tolerance=2)
add("fori_updates", lambda x: lax.fori_loop(1, 5, lambda i, c: c.at[i].add(c[i - 1] * 0.5), x), X)
add("fori_nested", lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, 2, lambda j, d: jnp.sin(d) + i * j, c), x), X)
add("scan", lambda x, ys: lax.scan(lambda c, y: (jnp.tanh(c @ W + y), c.sum()), x, ys), X, normal("ys", 6, 5), tolerance=2)
add("scan_reverse", lambda x, ys: lax.scan(lambda c, y: (c * 0.5 + y, c), x, ys, reverse=True), X, normal("yr", 6, 5))
add("scan_without_inputs", lambda x: lax.scan(lambda c, _: (jnp.cos(c), c), x, None, length=4), X)
add("scan_pairs", lambda x, a, b: lax.scan(lambda c, y: ((c[0] + y[0], c[1] * 0.9), (c[1] * y[1], c[0])), (x, x), (a, b)), X,
    normal("pa", 4, 5), normal("pb", 4))
add("scan_unrolled", lambda x, ys: lax.scan(lambda c, y: (c * y, c), x, ys, unroll=2), X, normal("yu", 6, 5))
add("map", lambda ys: lax.map(lambda y: jnp.tanh(y).sum() * y, ys), normal("ym", 4, 5))
add("associative_scan", lambda x: lax.associative_scan(lambda a, b: a * b + b, x), X, tolerance=4)
add("remat", lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x), X)
add("stop_gradient", lambda x: x * lax.stop_gradient(jnp.exp(x)), X, grad=False)
add("nested_jit", lambda x: jax.jit(lambda y: jax.jit(jnp.tanh)(y) + 1)(x) * jax.jit(jnp.tanh)(x), X)
add("vmap", lambda a, x: jax.vmap(lambda r: jnp.tanh(r @ x).sum())(a), W, X)
add("jvp", lambda x: jax.jvp(lambda x: jnp.sin(x) * x, (x, ), (jnp.ones_like(x), )), X)
add("grad_inside", lambda x: jax.grad(lambda x: jnp.sum(jnp.tanh(W @ x)**2))(x), X)
add("hessian", lambda x: jax.hessian(lambda x: jnp.sum(jnp.tanh(W @ x)))(x), X)
add("jacobian", lambda x: jax.jacrev(lambda x: jnp.tanh(W @ x))(x), X)
add("newton", lambda a: lax.fori_loop(0, 8, lambda i, x: (x + a / x) / 2, a), np.float64(2))
add("runge_kutta", lambda y: lax.scan(lambda y, _: (lax.fori_loop(0, 1, lambda i, y: y + 0.1 * (jnp.sin(y + 0.05 * jnp.sin(y))), y), y),
                                      y, None, length=8), X, tolerance=2)
add("optimization_barrier", lambda x: lax.optimization_barrier((x, x * 2)), X)
add("no_arguments", lambda: jnp.arange(3.0) * 2)
add("unused_argument", lambda x, y: x + 1, X, W)
add("passed_through", lambda x, y: (y, x, x), X, W)

KEY = np.array([7, 42], "uint32")


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -0.1, 0.1), ))
add("custom_vjp", lambda x: jax.grad(lambda x: jnp.sum(clipped(x)**2))(x), X, grad=False)


def random(name, function, *args, **options):
    add("random_" + name, lambda k, *a: function(jax.random.wrap_key_data(k), *a), KEY, *args, **options)


random("bits", lambda k: (jax.random.bits(k, (7, )), jax.random.bits(k, (3, ), "uint8"), jax.random.bits(k, (2, ), "uint64")))
random("uniform", lambda k: (jax.random.uniform(k, (3, 4)), jax.random.uniform(k, (5, ), "float64", -2, 3)))
random("normal", lambda k: (jax.random.normal(k, (9, )), jax.random.normal(k, (4, ), "float64")), tolerance=20)
random("split", lambda k: (jax.random.key_data(jax.random.split(k, 3)), jax.random.key_data(jax.random.fold_in(k, 5))))
random("randint", lambda k: (jax.random.randint(k, (9, ), -5, 20), jax.random.randint(k, (3, ), 0, 200, "uint8")))
random("bernoulli", lambda k: jax.random.bernoulli(k, 0.3, (16, )))
random("categorical", lambda k, x: jax.random.categorical(k, x, shape=(9, )), X)
random("permutation", lambda k, x: jax.random.permutation(k, x), X)
random("truncated_normal", lambda k: jax.random.truncated_normal(k, -1, 2, (6, )), tolerance=20)
random("gumbel", lambda k: jax.random.gumbel(k, (6, )), tolerance=20)
random("exponential", lambda k: jax.random.exponential(k, (6, )), tolerance=4)
random("gamma", lambda k: jax.random.gamma(k, 2.5, (3, )), tolerance=200)
random("poisson", lambda k: jax.random.poisson(k, 3.0, (5, )))
random("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.5, x.shape), x / 0.5, 0), X)
random("choice", lambda k, x: jax.random.choice(k, x, (3, ), replace=False), X)
random("reparameterized", lambda k, m, s: m + jnp.exp(s) * jax.random.normal(k, m.shape), X, 0.1 * X, tolerance=20)
add("random_rbg", lambda k: jax.random.bits(jax.random.wrap_key_data(k, impl="rbg"), (4, )), np.array([1, 2, 3, 4], "uint32"))
