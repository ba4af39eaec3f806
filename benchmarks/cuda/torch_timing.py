# benchmarks/cuda/torch_timing.py: functions of PyTorch on the GPU, eager and compiled, timed as timing.hpp times.
# PROGRAM RESULT.json [--eager] [PARTS OF NAMES]: --eager compiles nothing; of the cases, those with one of the parts run.
# Medians of 25 samples on rotated data. Exit code 77 where there is no PyTorch, or it finds no CUDA device.
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import statistics
import sys

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: PyTorch finds no CUDA device")
    sys.exit(77)

device = "cuda"
eager_only = "--eager" in sys.argv
parts = [argument for argument in sys.argv[2:] if argument != "--eager"]
samples, rotated_bytes, sample_milliseconds = 25, 256 << 20, 0.2
rows = []


def slots_for(size):
    return max(1, min(256, -(-rotated_bytes // size)))


def normal(*extents, dtype=torch.float32):
    return torch.randn(*extents, device=device, dtype=dtype)


def milliseconds(run, sets, repetitions, first):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for i in range(repetitions):
        run(*sets[(first + i) % len(sets)])
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repetitions


def tensors_of(result):
    """The tensors of a result, of tuples within it too."""
    if torch.is_tensor(result):
        return [result.detach().float()]
    return [tensor for part in result for tensor in tensors_of(part)]


def must_agree(name, eager, compiled, operands):
    expected, found = (tensors_of(run(*copy.deepcopy(operands))) for run in (eager, compiled))
    if not all(torch.allclose(*pair, rtol=2e-2, atol=2e-2) for pair in zip(found, expected, strict=True)):
        sys.exit(f"{name}: the compiled function differs from the eager one")


def measure(name, function, make, size, bytes=0, operations=0, compiled=True, mode=None):
    """Times `function` on rotated results of `make`, eager and compiled, in turns. Results are tensors, or tuples of
    them; operands anything that can be copied: modules and optimisers, of which `size` may ask for one set, too."""
    if parts and not any(part in name for part in parts):
        return
    sets = [make() for _ in range(slots_for(size))]
    contenders = {"torch": function}
    if compiled and not eager_only:
        contenders["torch_compile"] = torch.compile(function, mode=mode)
        must_agree(name, function, contenders["torch_compile"], sets[0])
    times = {library: [] for library in contenders}
    repetitions = {}
    for library, run in contenders.items():
        milliseconds(run, sets, 3, 0)
        once = milliseconds(run, sets, 4, 0)
        repetitions[library] = max(1, min(1000, round(sample_milliseconds / max(once, 1e-4))))
    for sample in range(samples):
        for library, run in contenders.items():
            times[library].append(milliseconds(run, sets, repetitions[library], sample))
    for library, found in times.items():
        median = statistics.median(found)
        row = {"name": f"{name}/{library}_median", "aggregate_name": "median", "repetitions": samples,
               "real_time": median, "least_time": min(found), "time_unit": "ms"}  # fmt: skip
        if bytes:
            row["bytes_per_second"] = bytes / (median * 1e-3)
        if operations:
            row["FLOP/s"] = operations / (median * 1e-3)
        rows.append(row)
        print(f"{name:40} {library:14} {median:10.4f} ms", flush=True)
    del sets
    torch.compiler.reset()  # or the next case's extents are compiled as any extents
    torch.cuda.empty_cache()


def write_rows(path):
    with open(path, "w") as file:
        context = {"peer": f"PyTorch {torch.__version__}"}
        file.write('{\n  "context": ' + json.dumps(context) + ',\n  "benchmarks": [\n')
        file.write(",\n".join("    " + json.dumps(row) for row in rows) + "\n  ]\n}\n")
