#!/usr/bin/env python3
# PyTorch on the cases G7 and G8 of benchmarks/cuda/*.cu, recurrent layers and networks: network_peers.py RESULT.json.
# The same extents and types, floats multiplied as floats; the network eager, and compiled into CUDA's graphs.
# SPDX-License-Identifier: Apache-2.0
import sys

from torch_timing import device, measure, normal, rotated_bytes, torch, write_rows

one_set = rotated_bytes  # of operands, as what is measured keeps its memory
cells = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}


class Layers:
    """Recurrent layers whose inputs have as many features as their states."""

    def __init__(self, cell, dtype, hidden, batch, time=512, **options):
        self.cell, self.dtype, self.hidden, self.options = cell, dtype, hidden, options
        self.extents = time, batch, hidden
        directions = 2 if options.get("bidirectional") else 1
        self.outputs = time, batch, directions * hidden
        gates = {"lstm": 4, "gru": 3, "rnn": 1}[cell]
        inputs = [hidden] + [directions * hidden] * (options.get("num_layers", 1) - 1)
        self.operations = sum(2 * time * batch * directions * gates * hidden * (each + hidden) for each in inputs)
        self.name = f"_{str(dtype).removeprefix('torch.')}_{hidden}_batch{batch}"

    def make(self):
        module = cells[self.cell](self.hidden, self.hidden, **self.options, device=device, dtype=self.dtype)
        return module, normal(*self.extents, dtype=self.dtype)

    def make_for_use(self):
        module, x = self.make()
        return module.eval(), x

    def make_for_training(self):
        module, x = self.make()
        return module, x.requires_grad_(), normal(*self.outputs, dtype=self.dtype)

    @staticmethod
    @torch.no_grad()
    def forward(module, x):
        return module(x)[0]

    @staticmethod
    def training(module, x, gradient):
        return torch.autograd.grad(module(x)[0], (x, *module.parameters()), gradient)

    def measure_forward(self, name, operations):
        measure(name, self.forward, self.make_for_use, one_set, operations=operations, compiled=False)

    def measure_both(self, row, kind=""):
        name = f"{row}/{kind or self.cell}{self.name}"
        self.measure_forward(f"{name}_forward", self.operations)
        measure(f"{name}_training", self.training, self.make_for_training, one_set, operations=3 * self.operations,
                compiled=False)  # fmt: skip


def recurrent_layers():
    half, bfloat16 = torch.float16, torch.bfloat16
    for hidden in (256, 512, 1024):
        for batch in (8, 32, 128):
            Layers("lstm", half, hidden, batch).measure_both("G7a")
    sizes = (256, 8), (512, 32), (1024, 128)
    for dtype in (bfloat16, torch.float32):
        for size in sizes:
            Layers("lstm", dtype, *size).measure_both("G7b")
        Layers("lstm", dtype, 512, 32, num_layers=2).measure_both("G7b", "lstm_2layers")
        Layers("lstm", dtype, 512, 32, bidirectional=True).measure_both("G7b", "lstm_bidirectional")
    for size in sizes:
        for cell in ("gru", "rnn"):
            Layers(cell, half, *size).measure_both("G7c")
    Layers("lstm", bfloat16, 1024, 32, time=1000).measure_forward("G7d/1000_steps_lstm_bfloat16_1024_batch32", 0)
    Layers("lstm", half, 2048, 32).measure_both("G7e")


def make_simple_cnn():
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 32, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2),
        layers.Conv2d(32, 64, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2),
        layers.Flatten(), layers.Linear(3136, 128), layers.ReLU(), layers.Linear(128, 10)).to(device)  # fmt: skip


def networks():
    def make_training():
        network = make_simple_cnn()
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
        return network, optimizer, normal(64, 3, 28, 28), torch.arange(64, device=device) % 10

    def step(network, optimizer, images, labels):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    @torch.no_grad()
    def infer(network, images):
        return network(images)

    measure("G8a/simple_cnn_step_batch64", step, make_training, one_set, mode="reduce-overhead")
    for batch in (1, 64):
        measure(f"G8a/simple_cnn_inference_batch{batch}", infer,
                lambda: (make_simple_cnn().eval(), normal(batch, 3, 28, 28)), one_set,
                mode="reduce-overhead")  # fmt: skip


def optimizers():
    count, elements = 100, 1000000

    def make():
        parameters = [torch.nn.Parameter(normal(elements)) for _ in range(count)]
        for each in parameters:
            each.grad = torch.randn_like(each)
        return (torch.optim.AdamW(parameters, fused=True),)

    measure("G8b/adamw_100_million", lambda optimizer: optimizer.step(), make, one_set, 28 * count * elements,
            compiled=False)  # fmt: skip


torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
recurrent_layers()
networks()
optimizers()
write_rows(sys.argv[1])
