#!/usr/bin/env python3
# tests/ptx/mutate.py: breaks the PTX within a program, one instruction a run, and says what share its tests notice.
# Instructions are drawn from the kernels that the program launches. A survivor is run again with a trap in its place,
# which tells whether it was reached at all.
# SPDX-License-Identifier: Apache-2.0
import argparse
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

TEXT = re.compile(rb"\.version [0-9.]+[^\0]*")
ENTRY = re.compile(rb"\.entry ([^(\s]+)")
STATEMENT = re.compile(rb"^[ \t]*((?:@!?%\w+[ \t]+)?[a-z][^;\n{}/]*(?:\{[^;\n]*)?;)", re.MULTILINE)
FILE = re.compile(rb'\.file\s+(\d+) "([^"]+)"')
LINE = re.compile(rb"\.loc\s+(\d+) (\d+)")
GUARD = rb"^(?:@!?%\w+\s+)?"
DROPPED = {
    "barrier": re.compile(GUARD + rb"(bar|barrier)\."),
    "wait": re.compile(GUARD + rb"(cp\.async\.(wait|commit)|wgmma\.(wait|commit))"),
    "fence": re.compile(GUARD + rb"(membar|fence|wgmma\.fence)"),
}
OFFSET = re.compile(rb"\[%\w+\+(\d+)\]")
OPCODES = [(b"setp.lt.", b"setp.le."), (b"setp.le.", b"setp.lt."), (b"setp.gt.", b"setp.ge."),
           (b"setp.ge.", b"setp.gt."), (b"setp.eq.", b"setp.ne."), (b"setp.ne.", b"setp.eq."),
           (b"add.s", b"sub.s"), (b"sub.s", b"add.s"), (b"add.f", b"sub.f"), (b"min.", b"max."), (b"max.", b"min.")]
SOURCES = re.compile(rb"^(.*?%\w+,\s*)(%\w+),\s*(%\w+)(\s*(?:,.*)?;)$", re.DOTALL)


def dropped(statement, _):
    return b""


def with_offset(statement, draw):
    """Another offset of an address, as long as the one before."""
    at = OFFSET.search(statement)
    number = int(at.group(1))
    for other in (number + 4, number - 4, number + 2, number - 2):
        if other > 0 and len(str(other)) == len(at.group(1)):
            return statement[:at.start(1)] + str(other).encode() + statement[at.end(1):]
    return None


def with_operand(statement, draw):
    """Another operation, or two operands exchanged."""
    opcode = re.match(GUARD, statement).end()
    changes = [statement[:opcode] + statement[opcode:].replace(old, new, 1)
               for old, new in OPCODES if statement[opcode:].startswith(old)]
    parts = SOURCES.match(statement)
    commutes = re.match(GUARD + rb"(add|mul|fma|mad|and|or|xor|min|max|mma|wmma|wgmma|bra)", statement)
    if parts and not commutes and parts.group(2) != parts.group(3):
        changes.append(parts.group(1) + parts.group(3) + b", " + parts.group(2) + parts.group(4))
    return draw.choice(changes) if changes else None


def launched(program, command):
    """The entries that a program launches."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counts")
        subprocess.run([os.path.abspath(program), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "TENON_PTX_COUNTS": path}, check=True)
        with open(path, encoding="utf-8") as file:
            return {json.loads(line)["entry"].encode() for line in file}


def source_line(text, begin):
    """Where the statement at `begin` comes from."""
    at = text.rfind(b".loc", 0, begin)
    if at < 0:
        return "?"
    number, line = LINE.match(text, at).groups()
    names = [name for each, name in FILE.findall(text) if each == number]
    return f"{os.path.basename(names[0]).decode() if names else '?'}:{line.decode()}"


def places(program, entries_used):
    """The statements of these kernels, by what can be done to them: (begin, statement, kernel, line)."""
    found = {kind: [] for kind in [*DROPPED, "offset", "operand"]}
    for text in TEXT.finditer(program):
        entries = [(each.start(), each.group(1)) for each in ENTRY.finditer(text.group())]
        whole = text.group()
        for each in STATEMENT.finditer(whole):
            before = [name for start, name in entries if start < each.start()]
            if not before or before[-1] not in entries_used:
                continue
            place = (text.start() + each.start(1), each.group(1), before[-1],
                     functools.partial(source_line, whole, each.start(1)))
            kind = next((name for name, known in DROPPED.items() if known.match(each.group(1))), None)
            if kind:
                found[kind].append(place)
            elif OFFSET.search(each.group(1)):
                found["offset"].append(place)
            else:
                found["operand"].append(place)
    return found


def runs(program, begin, old, new, command, seconds):
    """Whether the tests pass with `new` in the place of `old`."""
    assert len(new) <= len(old)
    changed = program[:begin] + new.ljust(len(old)) + program[begin + len(old):]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        with open(path, "wb") as file:
            file.write(changed)
        os.chmod(path, 0o755)
        try:
            return subprocess.run([path, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=seconds, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def main():
    parser = argparse.ArgumentParser(description="Breaks the PTX of a program that links the machine, and runs it.")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*", help="of the program")
    parser.add_argument("--count", type=int, default=20, help="of changes that are reached")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120, help="that a run may take; more is noticed")
    options = parser.parse_args()
    with open(options.program, "rb") as file:
        program = file.read()
    draw = random.Random(options.seed)
    candidates = places(program, launched(options.program, options.arguments))
    changes = {"offset": with_offset, "operand": with_operand}
    totals = {"noticed": 0, "not reached": 0, "survived": 0}
    while totals["noticed"] + totals["survived"] < options.count and any(candidates.values()):
        kind = draw.choice([kind for kind, left in candidates.items() if left])
        begin, old, kernel, line = candidates[kind].pop(draw.randrange(len(candidates[kind])))
        new = changes.get(kind, dropped)(old, draw)
        if new is None or new == old or len(new) > len(old):
            continue
        if not runs(program, begin, old, new, options.arguments, options.seconds):
            outcome = "noticed"
        elif runs(program, begin, old, b"trap;", options.arguments, options.seconds):
            outcome = "not reached"
        else:
            outcome = "survived"
        totals[outcome] += 1
        shown = [" ".join(each.decode().split()) for each in (old, new)]
        print(f"{outcome}: {kind}: {shown[0]} -> {shown[1] or 'nothing'} ({line()}, {kernel.decode()[:100]})", flush=True)
    reached = totals["noticed"] + totals["survived"]
    print(f"{os.path.basename(options.program)}: " +
          ", ".join(f"{count} {outcome}" for outcome, count in totals.items()) +
          (f"; {100 * totals['noticed'] // reached} % of those that are reached are noticed" if reached else ""))


if __name__ == "__main__":
    sys.exit(main())
