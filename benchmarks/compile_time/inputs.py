# benchmarks/compile_time/inputs.py: the files that the programs read, made of random numbers.
# SPDX-License-Identifier: Apache-2.0
import array
import json
import math
import random
import struct


def write_table(path):
    """Flowers of three species, as Fisher's."""
    centres = {"setosa": (5.0, 3.4, 1.5, 0.2), "versicolor": (5.9, 2.8, 4.3, 1.3), "virginica": (6.6, 3.0, 5.6, 2.0)}
    with open(path, "w") as file:
        file.write("sepal_length,sepal_width,petal_length,petal_width,species\n")
        for species, centre in centres.items():
            for _ in range(50):
                size = random.gauss(1, 0.07)
                lengths = [abs(random.gauss(size * length, 0.15)) for length in centre]
                file.write(",".join(f"{length:.1f}" for length in lengths) + f",{species}\n")


def write_digits(folder, count=2000):
    """Images in MNIST's format, of a class each: its number of bright rows, at a random place."""
    labels = bytes(random.randrange(10) for _ in range(count))
    images = bytearray()
    for label in labels:
        first = random.randrange(28 - 2 * label)
        bright = range(first, first + 2 * label + 1)
        images += bytes(random.randrange(128, 256) if row in bright else 0 for row in range(28) for _ in range(28))
    (folder / "train-images-idx3-ubyte").write_bytes(struct.pack(">4i", 0x803, count, 28, 28) + images)
    (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, count) + labels)


def write_tensors(path, tensors):
    """A safetensors file of {name: (type, extents, array)}."""
    header, position = {}, 0
    for name, (dtype, extents, values) in tensors.items():
        size = len(values) * values.itemsize
        header[name] = {"dtype": dtype, "shape": extents, "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, values in tensors.values():
            values.tofile(file)


def floats(extents, low, high):
    return "F32", extents, array.array("f", (random.uniform(low, high) for _ in range(math.prod(extents))))


def parameter(*extents):
    """As PyTorch draws weights, by the number of inputs."""
    bound = 1 / math.sqrt(math.prod(extents[1:]))
    return floats(list(extents), -bound, bound)


def write_cnn(path):
    tensors = {}
    for number, (inputs, outputs) in enumerate([(3, 32), (32, 64), (64, 128)], 1):
        norm = f"bn{number}."
        tensors[f"conv{number}.weight"] = parameter(outputs, inputs, 3, 3)
        tensors[norm + "weight"] = floats([outputs], 0.5, 1.5)
        tensors[norm + "bias"] = floats([outputs], -0.5, 0.5)
        tensors[norm + "running_mean"] = floats([outputs], -0.2, 0.2)
        tensors[norm + "running_var"] = floats([outputs], 0.1, 0.5)
        tensors[norm + "num_batches_tracked"] = "I64", [], array.array("q", [1000])
    tensors["fc.weight"], tensors["fc.bias"] = parameter(10, 128), floats([10], -0.1, 0.1)
    write_tensors(path, tensors)


def write_lstm(path, features=64, hidden=128):
    tensors = {"embedding.weight": floats([1000, features], -1, 1)}
    for layer, inputs in enumerate([features, 2 * hidden]):
        for direction in "", "_reverse":
            suffix = f"_l{layer}{direction}"
            tensors["lstm.weight_ih" + suffix] = parameter(4 * hidden, inputs)
            tensors["lstm.weight_hh" + suffix] = parameter(4 * hidden, hidden)
            tensors["lstm.bias_ih" + suffix] = floats([4 * hidden], -0.1, 0.1)
            tensors["lstm.bias_hh" + suffix] = floats([4 * hidden], -0.1, 0.1)
    tensors["fc.weight"], tensors["fc.bias"] = parameter(5, 2 * hidden), floats([5], -0.1, 0.1)
    write_tensors(path, tensors)


def write_all(folder):
    random.seed(1)
    write_table(folder / "flowers.csv")
    write_digits(folder)
    write_cnn(folder / "cnn.safetensors")
    write_lstm(folder / "lstm.safetensors")
