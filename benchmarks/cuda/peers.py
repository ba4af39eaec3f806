#!/usr/bin/env python3
# PyTorch on the cases G1 to G5 of benchmarks/cuda/*.cu: peers.py RESULT.json.
# The same extents, types and bytes; eager, and compiled where that differs.
# SPDX-License-Identifier: Apache-2.0
import sys

from torch_timing import device, measure, normal, torch, write_rows


def pointwise():
    n = 1 << 28

    def three(count=n):
        return lambda: (normal(count), normal(count), normal(count))

    measure("G1a/multiply_add", lambda a, b, c: a * b + c, three(), 16 * n, 16 * n)
    measure("G1b/chain", lambda a, b, c: (a * b + c) * 0.5 - a / (1 + b * b), three(), 16 * n, 16 * n)
    measure("G1c/functions", lambda a, b, c: torch.tanh(a) * torch.exp(-b * b) + torch.log1p(torch.abs(c)), three(),
            16 * n, 16 * n)  # fmt: skip
    measure("G1d/float_to_bfloat16", lambda x: x.to(torch.bfloat16), lambda: (normal(n) * 20,), 6 * n, 6 * n)
    measure("G1d/bfloat16_add", lambda x: x + x, lambda: (normal(n, dtype=torch.bfloat16) * 20,), 4 * n, 4 * n)
    measure("G1d/int8_scale", lambda x: x.float() * 0.125, lambda: ((normal(n) * 20).to(torch.int8),), 5 * n, 5 * n)
    measure("G1f/4096", lambda a, b, c: a * b + c, three(4096), 16 * 4096)


def layout():
    n = 16384
    measure("G2a/broadcast", lambda x, row, column: x + row + column,
            lambda: (normal(n, n), normal(n), normal(n, 1)), 8 * n * n, 8 * n * n)  # fmt: skip
    for name, dtype, size in (("float", torch.float32, 4), ("bfloat16", torch.bfloat16, 2)):
        measure(f"G2b/transpose_{name}", lambda x: (x.t() * 2).contiguous(), lambda: (normal(n, n, dtype=dtype),),
                2 * size * n * n, 2 * size * n * n)  # fmt: skip
    count = 256 * 256 * 56 * 56
    measure("G2c/channels_to_back", lambda x: x.permute(0, 2, 3, 1).contiguous(),
            lambda: (normal(256, 256, 56, 56, dtype=torch.bfloat16),), 4 * count, 4 * count)  # fmt: skip
    measure("G2c/channels_to_front", lambda x: x.permute(0, 3, 1, 2).contiguous(),
            lambda: (normal(256, 56, 56, 256, dtype=torch.bfloat16),), 4 * count, 4 * count)  # fmt: skip


def reductions():
    for name, n in (("G3a/2^30", 1 << 30), ("G3c/2^16", 1 << 16), ("G3c/2^20", 1 << 20), ("G3c/2^22", 1 << 22)):
        measure(f"{name}/sum", torch.sum, lambda: (normal(n),), 4 * n, 4 * n, compiled=False)
        measure(f"{name}/max", torch.max, lambda: (normal(n),), 4 * n, 4 * n, compiled=False)
    n = 1 << 29
    measure("G3b/squared_distance", lambda a, b: torch.sum(torch.square(a - b)), lambda: (normal(n), normal(n)), 8 * n,
            8 * n)  # fmt: skip
    for rows_of, columns in ((1 << 22, 64), (65536, 4096), (64, 1 << 23)):
        size = 4 * rows_of * columns
        for axis, name in ((1, "rows"), (0, "columns")):
            measure(f"G3d/{name}_{rows_of}x{columns}", lambda x: torch.sum(x, axis),
                    lambda: (normal(rows_of, columns),), size, size, compiled=False)  # fmt: skip
    size = 4 * 256 * 4096 * 256
    for name, function in (("sum", torch.sum), ("argmax", torch.argmax), ("variance", torch.var)):
        options = {"correction": 0} if name == "variance" else {}
        measure(f"G3e/middle_{name}", lambda x: function(x, 1, **options), lambda: (normal(256, 4096, 256),), size,
                size, compiled=False)  # fmt: skip


def row_statements():
    elements = 1 << 28
    for name, dtype, size in (("float", torch.float32, 4), ("bfloat16", torch.bfloat16, 2)):
        once = size * elements
        for columns in (256, 1024, 4096, 8192, 32768, 131072):
            measure(f"G4a/softmax_{name}_{columns}", lambda x: torch.softmax(x, -1),
                    lambda: (normal(elements // columns, columns, dtype=dtype),), 2 * once, 2 * once)  # fmt: skip
        for columns in (1024, 8192):

            def make():
                x = normal(elements // columns, columns, dtype=dtype)
                return x, normal(columns, dtype=dtype), normal(columns, dtype=dtype)

            def make_with_residual():
                x, weight, bias = make()
                return x, torch.randn_like(x), weight, bias

            def norm(x, weight, bias):
                return torch.nn.functional.layer_norm(x, (columns,), weight, bias)

            def residual_norm(x, residual, weight, bias):
                total = x + residual
                return total, norm(total, weight, bias)

            measure(f"G4b/layer_norm_{name}_{columns}", norm, make, 2 * once, 2 * once)
            measure(f"G4b/residual_layer_norm_{name}_{columns}", residual_norm, make_with_residual, 4 * once, 4 * once)

            def make_for_gradients():
                x, weight, bias = make()
                _, mean, scale = torch.native_layer_norm(x, (columns,), weight, bias, 1e-5)
                return torch.randn_like(x), x, mean, scale, weight, bias

            def norm_gradients(gradient, x, mean, scale, weight, bias):
                return torch.ops.aten.native_layer_norm_backward(
                    gradient, x, (columns,), mean, scale, weight, bias, (True, True, True))  # fmt: skip

            measure(f"G4c/layer_norm_gradients_{name}_{columns}", norm_gradients, make_for_gradients, 3 * once,
                    3 * once)  # fmt: skip
    rows_of, classes = 8192, 50304

    def cross_entropy(logits, labels):
        losses = torch.nn.functional.cross_entropy(logits.float(), labels, reduction="none")
        gradient = torch.softmax(logits, -1)
        gradient[torch.arange(rows_of, device=device), labels] -= 1
        return losses, gradient / rows_of

    size = 2 * 2 * rows_of * classes
    measure(f"G4d/cross_entropy_bfloat16_{classes}", cross_entropy,
            lambda: (normal(rows_of, classes, dtype=torch.bfloat16),
                     torch.randint(classes, (rows_of,), device=device)), size, size)  # fmt: skip


def products():
    half, bfloat16 = torch.float16, torch.bfloat16
    torch.backends.cuda.matmul.allow_tf32 = False
    cases = [(f"G5a_bfloat16/{n}x{n}x{n}", bfloat16, (n, n, n)) for n in (8192, 4096, 2048, 1024)]
    cases += [(f"G5b_float16/{n}x{n}x{n}", half, (n, n, n)) for n in (8192, 4096, 2048, 1024)]
    cases += [("G5e_float32/8192x8192x8192", torch.float32, (8192, 8192, 8192))]
    cases += [("G5g_bfloat16/8191x8190x8189", bfloat16, (8191, 8190, 8189))]
    cases += [(f"G5h_bfloat16/{m}x8192x8192", bfloat16, (m, 8192, 8192)) for m in (1, 4, 16)]
    cases += [("G5i_bfloat16/256x256x65536", bfloat16, (256, 256, 65536))]
    for name, dtype, (m, n, k) in cases:
        size = (m * k + k * n + m * n) * torch.finfo(dtype).bits // 8
        measure(name, torch.matmul, lambda: (normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)), size,
                operations=2 * m * n * k, compiled=False)  # fmt: skip
    m, n, k = 8192, 8192, 1024

    def gelu(x):
        return torch.nn.functional.gelu(x, approximate="tanh")

    def operands():
        return normal(m, k, dtype=bfloat16), normal(k, n, dtype=bfloat16), normal(n, dtype=bfloat16)

    operand_bytes = 2 * (m * k + k * n + m * n)
    measure(f"G5f_bfloat16/bias_gelu_{m}x{n}x{k}", lambda a, b, bias: gelu(a @ b + bias), operands, operand_bytes,
            operations=2 * m * n * k)  # fmt: skip
    measure(f"G5f_bfloat16/bias_gelu_residual_{m}x{n}x{k}",
            lambda a, b, bias, residual: gelu(a @ b + bias) + residual,
            lambda: (*operands(), normal(m, n, dtype=bfloat16)), operand_bytes + 2 * m * n,
            operations=2 * m * n * k)  # fmt: skip
    measure("G5i_bfloat16/4096_of_64x64x64", torch.matmul,
            lambda: (normal(4096, 64, 64, dtype=bfloat16), normal(4096, 64, 64, dtype=bfloat16)),
            3 * 2 * 4096 * 64 * 64, operations=2 * 4096 * 64**3, compiled=False)  # fmt: skip


pointwise()
layout()
reductions()
row_statements()
products()
write_rows(sys.argv[1])
