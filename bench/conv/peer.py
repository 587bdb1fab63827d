#!/usr/bin/env python3
"""The grouped convolutions of conv_bench with PyTorch on one thread, for a Python that has it."""

import statistics
import time

import torch

torch.set_num_threads(1)


def measure(name, f):
    f()
    times = []
    for _ in range(15):
        start = time.process_time()
        f()
        times.append(time.process_time() - start)
    print(f"| {name} | {1e3 * statistics.median(times):.2f} |")


def case(name, batch, channels, side, stride, groups, last):
    form = torch.channels_last if last else torch.contiguous_format
    x = torch.zeros(batch, channels, side, side).to(memory_format=form)
    k = torch.zeros(channels, channels // groups, 3, 3).to(memory_format=form)
    conv = lambda: torch.nn.functional.conv2d(x, k, stride=stride, padding=1, groups=groups)
    ct = torch.zeros_like(conv())

    def gradient(mask):
        return lambda: torch.ops.aten.convolution_backward(
            ct, x, k, None, [stride] * 2, [1, 1], [1, 1], False, [0, 0], groups, mask
        )

    with torch.no_grad():
        measure(name + (", channels last" if last else ""), conv)
        measure("its gradient by the images", gradient([True, False, False]))
        measure("its gradient by the kernel", gradient([False, True, False]))


print("| convolution | ms |\n|---|---:|")
for last in (False, True):
    case("depthwise, 32, 3 x 3, padded, 112 x 112", 1, 32, 112, 1, 32, last)
    case("depthwise, 64, 3 x 3, padded, every second of 112 x 112", 1, 64, 112, 2, 64, last)
    case("depthwise, 128, 3 x 3, padded, 8 of 28 x 28", 8, 128, 28, 1, 128, last)
case("32 groups of 4 to 4, 3 x 3, padded, 8 of 28 x 28", 8, 128, 28, 1, 32, False)
