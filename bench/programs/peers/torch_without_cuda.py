#!/usr/bin/env python3
"""Makes PyPI's build of torch, which is for CUDA, import on a machine without NVIDIA's libraries (4 GB of wheels).

In the environment of the Python that runs this: each NVIDIA library that torch's own need becomes a small shared
object with the right name and versioned symbols, whose functions return cudaErrorNoDevice (100). So
torch.cuda.is_available() is False, and all code for the CPU is as shipped. Needs gcc and readelf.
"""

import collections
import pathlib
import re
import subprocess
import sysconfig
import tempfile

LIBRARIES = pathlib.Path(sysconfig.get_paths()["purelib"], "torch/lib")
NVIDIA = re.compile(r"lib(cu|nv|nccl)")
SYMBOL = re.compile(r"^\s*\d+:\s+\S+\s+\S+\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)\s+(\S+)(?:\s+\(\d+\))?$")
# Which library has a symbol without a version, by how its name begins.
OWNERS = {"cufile": "libcufile", "cuFile": "libcufile", "cupti": "libcupti", "nccl": "libnccl",
          "nvshmem": "libnvshmem", "cusparseLt": "libcusparseLt", "cusolver": "libcusolver", "cublas": "libcublas.so",
          "cudnn": "libcudnn", "cufft": "libcufft", "nvrtc": "libnvrtc", "cuda": "libcudart"}
BODIES = {
    "cudaGetErrorString": 'const char* %s(void) { return "there is no CUDA here"; }',
    "cudaGetErrorName": 'const char* %s(void) { return "cudaErrorNoDevice"; }',
    "cudaDriverGetVersion": "int %s(int* version) { *version = 0; return 0; }",
    "cudaRuntimeGetVersion": "int %s(int* version) { *version = 0; return 0; }",
    "cudaGetDeviceCount": "int %s(int* count) { *count = 0; return 100; }",
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_missing(library, own):
    return NVIDIA.match(library) and library not in own


def main():
    own = {f.name for f in LIBRARIES.iterdir() if ".so" in f.name}
    needed, defined, unversioned = set(), set(), set()
    versioned = collections.defaultdict(lambda: collections.defaultdict(set))  # by library and version
    objects = set()
    for name in sorted(own):
        path = LIBRARIES / name
        library_of, current = {}, None
        for line in output("readelf", "-WV", path).splitlines():
            if found := re.search(r"File: (\S+)", line):
                current = found[1]
            elif current and (found := re.search(r"Name: (\S+)", line)):
                library_of[found[1]] = current
        for found in re.finditer(r"\(NEEDED\).*\[(.+?)\]", output("readelf", "-dW", path)):
            if is_missing(found[1], own):
                needed.add(found[1])
        for line in output("readelf", "-W", "--dyn-syms", path).splitlines():
            if not (found := SYMBOL.match(line)):
                continue
            kind, binding, section, symbol = found.groups()
            symbol, _, version = symbol.replace("@@", "@").partition("@")
            library = library_of.get(version, "")
            if section != "UND":
                defined.add(symbol)
            elif version and is_missing(library, own):
                versioned[library][version].add(symbol)
                if kind == "OBJECT":
                    objects.add(symbol)
            elif not version and binding == "GLOBAL" and not symbol.startswith("_"):
                unversioned.add(symbol)
    plain = collections.defaultdict(set)
    for symbol in unversioned - defined:
        for start, owner in OWNERS.items():
            if symbol.startswith(start):
                plain.update({lib: plain[lib] | {symbol} for lib in sorted(needed) if lib.startswith(owner)})
                break
    for library in sorted(needed):
        symbols = plain[library].union(*versioned[library].values())
        source = "\n".join(f"char {s}[256];" if s in objects else
                           BODIES.get(s, "long %s(void) { return 100; }") % s for s in sorted(symbols))
        script = "\n".join(f"{version} {{ global: {' '.join(s + ';' for s in sorted(names))} }};"
                           for version, names in versioned[library].items())
        with tempfile.TemporaryDirectory() as folder:
            code, versions = pathlib.Path(folder, "stub.c"), pathlib.Path(folder, "versions")
            code.write_text(source or "int nothing;")
            versions.write_text(script)
            subprocess.run(["gcc", "-w", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", LIBRARIES / library, code,
                            f"-Wl,-soname,{library}", *([f"-Wl,--version-script,{versions}"] if script else [])],
                           check=True)


if __name__ == "__main__":
    main()
