#!/usr/bin/env python3
# PyTorch on the cases G6 and G9 of benchmarks/cuda/*.cu, convolutions, pools, attention: layer_peers.py RESULT.json.
# The same extents, bfloat16, channels last; cuDNN's algorithms are measured first, as PyTorch does where it is asked.
# SPDX-License-Identifier: Apache-2.0
import math
import sys

from torch_timing import measure, normal, torch, write_rows

functional = torch.nn.functional
batch = 256


def images(*extents, summed=1):
    """Normal numbers whose sums of so many products are about 1."""
    return (normal(*extents, dtype=torch.bfloat16) / math.sqrt(summed)).to(memory_format=torch.channels_last)


class Convolution:
    """Of square images: kernel, stride and padding are those of both axes."""

    def __init__(self, channels, extent, outputs, kernel, stride=1, padding=0, groups=1):
        windows = (extent + 2 * padding - kernel) // stride + 1
        taps = channels // groups * kernel * kernel
        self.image_extents = batch, channels, extent, extent
        self.weight_extents = outputs, channels // groups, kernel, kernel
        self.result_extents = batch, outputs, windows, windows
        self.options = {"stride": stride, "padding": padding, "groups": groups}
        self.taps = taps
        self.operations = 2 * math.prod(self.result_extents) * taps
        self.bytes = 2 * sum(map(math.prod, (self.image_extents, self.weight_extents, self.result_extents)))

    def image(self):
        return images(*self.image_extents)

    def weight(self):
        return images(*self.weight_extents, summed=self.taps)

    def forward(self, image, weight, bias=None):
        return functional.conv2d(image, weight, bias, **self.options)

    def gradients(self, gradient, image, weight, of_image):
        stride, padding = self.options["stride"], self.options["padding"]
        return torch.ops.aten.convolution_backward(
            gradient, image, weight, None, (stride, stride), (padding, padding), (1, 1), False, (0, 0),
            self.options["groups"], (of_image, not of_image, False))[0 if of_image else 1]  # fmt: skip

    def measure_forward(self, name, bytes=0):
        measure(name, self.forward, lambda: (self.image(), self.weight()), self.bytes, bytes,
                operations=self.operations, compiled=False)  # fmt: skip

    def measure_gradient(self, name, of_image):
        summed = 1 if of_image else math.prod(self.result_extents) // self.result_extents[1]
        measure(name, lambda *operands: self.gradients(*operands, of_image),
                lambda: (images(*self.result_extents, summed=summed), self.image(), self.weight()), self.bytes,
                operations=self.operations, compiled=False)  # fmt: skip

    def measure_activated(self, extents):
        def activated(*operands):
            return functional.relu(self.forward(*operands))

        def make():
            return self.image(), self.weight(), normal(self.weight_extents[0], dtype=torch.bfloat16)

        measure(f"G6c/bias_relu_{extents}", activated, make, self.bytes, operations=self.operations)
        measure(f"G6c/bias_relu_pool_{extents}", lambda *operands: functional.max_pool2d(activated(*operands), 2),
                make, self.bytes, operations=self.operations)  # fmt: skip


def convolutions():
    for extent, channels in ((56, 64), (28, 128), (14, 256), (7, 512)):
        of, extents = Convolution(channels, extent, channels, 3, padding=1), f"{extent}x{extent}x{channels}"
        of.measure_forward(f"G6a/forward_{extents}")
        of.measure_gradient(f"G6a/image_gradient_{extents}", of_image=True)
        of.measure_gradient(f"G6a/weight_gradient_{extents}", of_image=False)
        if extent >= 28:
            of.measure_activated(extents)
    Convolution(64, 56, 256, 1).measure_forward("G6b/1x1_56x56x64_256")
    Convolution(3, 224, 64, 7, stride=2, padding=3).measure_forward("G6b/stem_224x224x3_64")
    depthwise = Convolution(256, 56, 256, 3, padding=1, groups=256)
    depthwise.measure_forward("G6d/depthwise_56x56x256", depthwise.bytes)


def pools():
    def measure_pool(name, pool, channels, extent, windows):
        size = 2 * batch * channels * (extent**2 + windows**2)
        measure(f"G6e/{name}", pool, lambda: (images(batch, channels, extent, extent),), size, size)

    for name, pool in (("max", functional.max_pool2d), ("mean", functional.avg_pool2d)):
        measure_pool(f"{name}_2x2", lambda x: pool(x, 2), 64, 112, 56)
        measure_pool(f"{name}_3x3_s2", lambda x: pool(x, 3, 2), 64, 112, 55)
    measure_pool("global_mean", lambda x: torch.mean(x, (2, 3)), 2048, 7, 1)


def attention():
    def forward(query, key, value, gradient, is_causal):
        return functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)

    def gradients(query, key, value, gradient, is_causal):
        return torch.autograd.grad(forward(query, key, value, gradient, is_causal), (query, key, value), gradient)

    for count, length, width, is_causal in ((64, 2048, 64, False), (32, 4096, 128, False), (32, 4096, 128, True)):

        def make(wanted):
            tensors = [normal(1, count, length, width, dtype=torch.bfloat16) for _ in range(4)]
            return *(tensor.requires_grad_(wanted) for tensor in tensors[:3]), tensors[3], is_causal

        text, size = f"{count}x{length}x{width}" + "_causal" * is_causal, 2 * count * length * width
        product = 2 * count * length**2 * width / (1 + is_causal)
        measure(f"G9a/forward_{text}", forward, lambda: make(False), 4 * size, 4 * size, 2 * product, compiled=False)
        measure(f"G9b/forward_and_gradients_{text}", gradients, lambda: make(True), 11 * size, 11 * size, 7 * product,
                compiled=False)  # fmt: skip


torch.backends.cudnn.benchmark = True
convolutions()
pools()
attention()
write_rows(sys.argv[1])
