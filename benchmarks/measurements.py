# benchmarks/measurements.py: the files of benchmarks/results/ as numbers, for what writes tables and draws.
# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import re

root = pathlib.Path(__file__).resolve().parent.parent
file_name = re.compile(r"(w\d+[a-z]?_[a-z_]+)-(.*)-(\d{4}-\d\d-\d\d)-threads-(\d+)\.json")
library_name = re.compile(r"(?<![a-z])(tenon|eigen_tensor|eigen|xtensor|numpy|torch|onnxruntime|openblas|blis|onednn_plain|onednn|three_statements|loop_in_double|loop|limit)(?![a-z])")
titles = {
    "w01_pointwise": "W1: `out = (a*b + c)*0.5 - a/(1 + b*b)`, n floats",
    "w02_functions": "W2: `out = tanh(a)*exp(-b*b) + log1p(abs(c))`, n floats",
    "w03_reduce": "W3: `sum((a - b)^2)`, n floats",
    "w03b_axes": "W3b: sums of the rows and of the columns of 4096 x 4096 floats, and over the middle axis of 256^3",
    "w04_rows": "W4: softmax and standardisation, 4096 rows of 1024 floats",
    "w05_layout": "W5: matrix + row + column, transposed copy, sum of every second row and column; 4096 x 4096 floats",
    "w06_gemm": "W6: product of n x n floats, bare and with fused bias and ReLU",
    "w06b_products": "W6b: products [m, n, k] of few rows, of a linear layer, of bfloat16 and of bytes",
    "w06c_static": "W6c: n x n matrices and vectors of floats of static extents",
    "w07_convolution": "W7: convolutions of eight images with bias and ReLU, gradients of images and of weights",
    "w07b_pools": "W7: pools of eight images of 64 x 112 x 112",
    "w08_lstm": "W8: LSTM layers over 64 steps",
    "w09_networks": "W9: training steps and inference of a convolutional network and of an LSTM classifier",
    "w11_attention": "W11: attention of heads of 64 features, and steps of training with it",
    "w10_compile_time": "W10: g++ for small programs, beside those of peers",
    "w10_compile_time_clang": "W10: clang++ for small programs, beside those of peers",
    "w10_compile_time_nvcc": "W10: nvcc for small programs",
    "w12_characters": "W12: a language model of characters, its validation loss after the seconds given",
    "w14_linalg": "W14: n x n matrices of static extents, one and 1,000 of them: systems by Cholesky's factors, inverses",
    "w13_sentences": "W13: embeddings of sentences by all-MiniLM-L6-v2 from text to numbers, and what programs of it need",
    "w15_gpt": "W15: a small GPT on characters (examples/gpt): training, writing one character a step, and what programs of it need",
    "w16_latency": "W16: layers of n inputs and n units, one sample a call",
    "w18_phonemes": "W18: words to phonemes by two GRUs (examples/phonemes), and what programs of it need",
    "w19_boxes": "W19: 10,000 points, rotations, poses and short rows: a statement over boxes of 3 to 16 floats",
    "w17_small_weights": "W17: y = x w^T of the rows given with 4096 x 4096 weights of floats, and in blocks of 8 and of 4 bits",
}


names = {
    "tenon": "Tenon", "compiled": "Tenon, tenon::compiled", "onednn": "oneDNN", "onednn_plain": "oneDNN, plain layout",
    "torch": "PyTorch", "onnxruntime": "onnxruntime", "openblas": "OpenBLAS", "blis": "BLIS", "eigen": "Eigen",
    "eigen_tensor": "Eigen Tensor", "xtensor": "xtensor", "numpy": "NumPy", "loop": "plain loop", "loop_in_double": "loop in double",
    "three_statements": "Tenon, three statements", "limit": "limit",
}  # fmt: skip

cuda_file_name = re.compile(r"(?!w\d|predicted)(.+)-(\d{4}-\d\d-\d\d)\.json")
cuda_titles = {
    "G1": "G1: pointwise statements",
    "G2": "G2: broadcasts, transposed copies, permutations",
    "G3": "G3: reductions",
    "G4": "G4: softmax and layer norm, 2^28 elements in rows of the length given",
    "G5": "G5: products of matrices",
    "G6": "G6: convolutions and pools of 256 images of bfloat16, channels last",
    "G7": "G7: recurrent layers, 512 time steps",
    "G8": "G8: a convolutional network, and AdamW over 100 million floats",
    "G9": "G9: attention of bfloat16 and its gradients",
}


def short(workload):
    """`w03b_axes` as `W3b axes`."""
    code, name = workload.split("_", 1)
    return re.sub("w0?", "W", code) + " " + name.replace("_", " ").replace("lstm", "LSTM").replace("gemm", "products")


def newest_of_devices():
    """The newest file of each CUDA device."""
    found = {}
    for path in sorted((root / "benchmarks/results").glob("*.json")):
        match = cuda_file_name.fullmatch(path.name)
        if match:
            found[match[1]] = max(found.get(match[1], ("", path)), (match[2], path))
    return [path for _, (_, path) in sorted(found.items())]


def predictions():
    """The files of predictions, the oldest first: (what was predicted, rows by name)."""
    for path in sorted((root / "benchmarks/results").glob("predicted-*.json")):
        content = json.loads(path.read_text())
        yield content["context"].get("state", path.stem[-10:]), {row["name"]: row for row in content["benchmarks"]}


def cuda_cases(path, workload):
    """Of each case of a workload of a CUDA file the quantity that each library reached."""
    found = {}
    for result in json.loads(path.read_text())["benchmarks"]:
        case, library = result["name"].removesuffix("_median").rsplit("/", 1)
        if case.startswith(workload):
            found.setdefault(case, {})[library] = quantity(result)
    return found


def newest():
    """The newest file of each workload, processor and count of threads: (workload, processor, threads, path)."""
    found = {}
    for path in (root / "benchmarks/results").glob("w*.json"):
        workload, processor, date, threads = file_name.fullmatch(path.name).groups()
        key = workload, processor.replace("-", " "), int(threads)
        found[key] = max(found.get(key, ("", path)), (date, path))
    return [(*key, path) for key, (_, path) in sorted(found.items())]


def picture_name(workload, processor):
    """What benchmarks/plot calls the picture of a workload, without its ending."""
    return f"{workload}-{processor.replace(' ', '-')}"


def gain(ours, theirs):
    """How many times better: above 1 where ours is the better one."""
    return ours[0] / theirs[0] if ours[2] else theirs[0] / ours[0]


def peers_of(reached):
    return {library: theirs for library, theirs in reached.items() if library not in ("tenon", "limit")}


def best_peer(reached):
    """The peer beside which Tenon looks worst, or None."""
    peers = peers_of(reached)
    return min(peers, key=lambda library: gain(reached["tenon"], peers[library]), default=None)


def quantity(result):
    """Value, unit, and whether more of it is better."""
    if "FLOP/s" in result:
        return result["FLOP/s"] / 1e9, "GFLOP/s", True
    if "bytes_per_second" in result:
        return result["bytes_per_second"] / 1e9, "GB/s", True
    if "nanoseconds" in result:
        return result["nanoseconds"], "ns", False
    if "megabytes" in result:
        return result["megabytes"], "MB", False
    if "kilobytes" in result:
        return result["kilobytes"], "kB", False
    if "functions" in result:
        return result["functions"], "functions", False
    if "sentences" in result:
        return result["sentences"], "sentences/s", True
    if "words" in result:
        return result["words"], "words/s", True
    if "characters" in result:
        return result["characters"], "characters/s", True
    if "nats" in result:
        return result["nats"], f"nats after {result['steps']:.0f} steps", False
    if "seconds" in result:
        return result["seconds"], "s", False
    to_milliseconds = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[result["time_unit"]]
    return result["real_time"] * to_milliseconds, "ms", False


def cases(path):
    """Of each case of a file the quantity that each library reached."""
    found = {}
    for result in json.loads(path.read_text())["benchmarks"]:
        if result.get("aggregate_name", "median") != "median":  # a single run is its own median
            continue
        name = re.sub("(_median|/iterations:1|/repeats:1|/real_time)+$", "", result["name"])
        library = library_name.search(name).group()
        case = re.sub("[/_]{2,}", "/", name.replace(library, "", 1)).strip("/_")
        found.setdefault(case, {})[library] = quantity(result)
    return found
