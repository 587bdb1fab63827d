#!/usr/bin/env python3
"""Writes random_goldens.txt: draws of JAX's threefry2x32, as the bits of their elements in hex.

usage: random_goldens.py > random_goldens.txt     (with the Python that ./setup --oracle makes)

A line is: stream seed function dtype shape words... ; shape is "scalar" or like "4x3".
"""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import numpy as np
from jax import random as jr

SEEDS = (0, 42, 2**32 + 7, 2**63 - 1)
SHAPES = ((), (7,), (4, 3), (0,))


def emit(stream, seed, function, values):
    values = np.asarray(values)
    shape = "x".join(map(str, values.shape)) or "scalar"
    if values.dtype == bool:
        words = values.astype(np.uint8)
    else:
        words = np.atleast_1d(values).view(f"u{values.dtype.itemsize}")
    print(stream, seed, function, values.dtype.name, shape, *(f"{int(w):x}" for w in words.ravel()))


def draws(key, shape, dtype):
    yield "uniform", jr.uniform(key, shape, dtype)
    yield "uniform_m2_3", jr.uniform(key, shape, dtype, -2.0, 3.0)
    yield "normal", jr.normal(key, shape, dtype)
    yield "exponential", jr.exponential(key, shape, dtype)
    yield "gumbel", jr.gumbel(key, shape, dtype)
    yield "laplace", jr.laplace(key, shape, dtype)
    yield "truncated_normal_m1_2", jr.truncated_normal(key, -1.0, 2.0, shape, dtype)


def main():
    for stream in ("partitionable", "classic"):
        with jax.threefry_partitionable(stream == "partitionable"):
            for seed in SEEDS:
                key = jr.PRNGKey(seed)
                emit(stream, seed, "key", key)
                for n in (1, 2, 3, 5):
                    emit(stream, seed, f"split_{n}", jr.split(key, n))
                for v in (0, 1, 2**32 - 1):
                    emit(stream, seed, f"fold_in_{v}", jr.fold_in(key, v))
                for shape in SHAPES:
                    for width in (8, 16, 32, 64):
                        emit(stream, seed, "bits", jr.bits(key, shape, f"uint{width}"))
                    for dtype in ("int8", "int32", "int64", "uint32"):
                        low = 0 if dtype[0] == "u" else -5
                        emit(stream, seed, f"randint_{low}_100".replace("-", "m"),
                             jr.randint(key, shape, low, 100, dtype))
                    emit(stream, seed, "bernoulli_0.3", jr.bernoulli(key, jnp.float32(0.3), shape))
                emit(stream, seed, "randint_0_256", jr.randint(key, (7,), 0, 256, "uint8"))
                dtypes = ("float32", "float64", "float16", "bfloat16") if seed == 42 else ("float32",)
                for dtype in dtypes:
                    for function, values in draws(key, (7,), jnp.dtype(dtype)):
                        emit(stream, seed, function, values)
                logits = jnp.arange(20.0, dtype=jnp.float32).reshape(5, 4) / 7
                emit(stream, seed, "categorical", jr.categorical(key, logits).astype(jnp.int32))
                for n in (1, 2, 10, 50):
                    emit(stream, seed, f"permutation_{n}", jr.permutation(key, n).astype(jnp.int32))
                for axis in (0, 1):
                    x = jnp.arange(15, dtype=jnp.int32).reshape(3, 5)
                    emit(stream, seed, f"permutation_axis_{axis}", jr.permutation(key, x, axis))


if __name__ == "__main__":
    main()
