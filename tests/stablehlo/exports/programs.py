"""What a program of the corpus is: a JAX function, arguments, and how near to JAX's its results must be."""

import dataclasses
import zlib

import jax
import jax.numpy as jnp
import numpy as np

# By which part of a result it may be off. f32 functions of XLA's are polynomials; sums run in orders of their own.
TOLERANCE = {"float64": 2e-12, "float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


@dataclasses.dataclass
class Program:
    name: str
    function: object
    args: list  # of argument lists: the program runs once with each
    grad: bool = True  # its floating results by its floating arguments
    shapes: object = None  # of a shape-polymorphic export: a text for each argument
    tolerance: float = 1  # times TOLERANCE
    # Off by a part of the largest number of the result, instead of by a part of each: where terms cancel.
    scaled: bool = True
    slow: bool = False  # JAX takes seconds to compile it
    mesh: bool = False  # it is over several devices
    jit: dict = dataclasses.field(default_factory=dict)  # options of jax.jit in the export


ALL = []


def add(name, function, *args, **options):
    assert all(p.name != name for p in ALL), name
    ALL.append(Program(name, function, [list(args)], **options))


def add_polymorphic(name, function, shapes, *runs, **options):
    ALL.append(Program(name, function, [list(r) for r in runs], shapes=shapes, **options))


def rng(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def normal(seed, *shape, dtype="float32", scale=1.0):
    return (scale * rng(seed).standard_normal(shape)).astype(jnp.dtype(dtype))


def uniform(seed, low, high, *shape, dtype="float32"):
    return rng(seed).uniform(low, high, shape).astype(jnp.dtype(dtype))


def integers(seed, low, high, *shape, dtype="int32"):
    return rng(seed).integers(low, high, shape, dtype=dtype)


def tree(function, example):
    """A function of a list of arrays instead of a tree: what an export takes."""
    leaves, structure = jax.tree.flatten(example)

    def flat(*args):
        rebuilt = jax.tree.unflatten(structure, args[:len(leaves)])
        return tuple(jax.tree.leaves(function(rebuilt, *args[len(leaves):])))

    return flat, leaves
