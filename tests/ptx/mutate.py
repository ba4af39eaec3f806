#!/usr/bin/env python3
# tests/ptx/mutate.py: breaks the PTX within a program, one instruction a run, and says what share its tests notice.
# Instructions are drawn from the kernels that the program launches, and from what of them runs: a trap in the place of
# the instruction is noticed.
# SPDX-License-Identifier: Apache-2.0
import argparse
import csv
import dataclasses
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
UNNAMED = re.compile(r"(\d+)(?=_GLOBAL__N__)")  # the length of an unnamed namespace's name
FAULT = re.compile(r"\(719\), (.{0,70})")
FAILED = re.compile(r"(\w+\.[a-z]+:\d+): FAILED")
LINE = re.compile(rb"\.loc\s+(\d+) (\d+)")
GUARD = rb"^(?:@!?%\w+\s+)?"
DROPPED = {
    "barrier": re.compile(GUARD + rb"(bar\.|barrier\.|mbarrier\.arrive)"),
    "wait": re.compile(GUARD + rb"(cp\.async\.(wait|commit)|wgmma\.(wait|commit)|mbarrier\.try_wait)"),
    "fence": re.compile(GUARD + rb"(fence\.|wgmma\.fence)"),  # membar.cta is the mark of a branch, keep_device_branch
}
TRIED = re.compile(rb"mbarrier\.try_wait\S+ (\w+), \[.*\], (\S+);")
OFFSET = re.compile(rb"\[%\w+\+(\d+)\]")
OPCODES = [(b"setp.lt.", b"setp.le."), (b"setp.le.", b"setp.lt."), (b"setp.gt.", b"setp.ge."),
           (b"setp.ge.", b"setp.gt."), (b"setp.eq.", b"setp.ne."), (b"setp.ne.", b"setp.eq."),
           (b"add.s", b"sub.s"), (b"sub.s", b"add.s"), (b"add.f", b"sub.f"), (b"min.", b"max."), (b"max.", b"min.")]
SOURCES = re.compile(rb"^(.*?%\w+,\s*)(%\w+),\s*(%\w+)(\s*(?:,.*)?;)$", re.DOTALL)


def dropped(statement, _):
    """Nothing; a mbarrier's phase that has ended, where the statement asks for that."""
    tried = TRIED.match(statement)
    return b"setp.eq.s32 %s, %s, %s;" % (tried.group(1), tried.group(2), tried.group(2)) if tried else b""


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
    at = text.rfind(b".loc\t", 0, begin)
    if at < 0:
        return "?"
    number, line = LINE.match(text, at).groups()
    names = [name for each, name in FILE.findall(text) if each == number]
    return f"{os.path.basename(names[0]).decode() if names else '?'}:{line.decode()}"


def lasting(name):
    """A kernel's name without what each compilation draws for unnamed namespaces."""
    for each in reversed(list(UNNAMED.finditer(name))):
        name = name[:each.end()] + name[each.end() + int(each.group(1)):]
    return name


@dataclasses.dataclass
class place:
    """A statement that can be changed: `begin` counts in the program, `at` in the text of its kernels."""
    begin: int
    statement: bytes
    kernel: str
    text: bytes
    at: int
    entry: int

    def line(self):
        """Its line, counted from the kernel's first."""
        return self.text.count(b"\n", self.entry, self.at) + 1

    def source(self):
        return source_line(self.text, self.at)


def places(program, entries_used):
    """The statements of these kernels, by what can be done to them."""
    found = {kind: [] for kind in [*DROPPED, "offset", "operand"]}
    for text in TEXT.finditer(program):
        whole = text.group()
        entries = [(each.start(), each.group(1)) for each in ENTRY.finditer(whole)]
        for each in STATEMENT.finditer(whole):
            before = [entry for entry in entries if entry[0] < each.start()]
            if not before or before[-1][1] not in entries_used:
                continue
            start, entry = before[-1]
            kind = next((name for name, known in DROPPED.items() if known.match(each.group(1))), None)
            kind = kind or ("offset" if OFFSET.search(each.group(1)) else "operand")
            found[kind].append(place(text.start() + each.start(1), each.group(1), lasting(entry.decode()),
                                     whole, each.start(1), start))
    return found


def end_of(program, begin, old, new, command, seconds):
    """What notices `new` in the place of `old`, in a few words; nothing if the tests pass."""
    assert len(new) <= len(old)
    changed = program[:begin] + new.ljust(len(old)) + program[begin + len(old):]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        with open(path, "wb") as file:
            file.write(changed)
        os.chmod(path, 0o755)
        try:
            run = subprocess.run([path, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                                 check=False)
        except subprocess.TimeoutExpired:
            return "time: it does not end"
    said = " ".join(run.stdout.decode(errors="replace").split())
    fault, failed = FAULT.search(said), FAILED.search(said)
    if run.returncode == 0:
        return ""
    if fault:
        return "machine: " + fault.group(1)
    return f"test: {failed.group(1)}" if failed else f"end: {run.returncode}, {said[-80:]}"


def drawn(candidates, draw):
    """Changes, one after another: the kind, the place, and the statement instead."""
    changes = {"offset": with_offset, "operand": with_operand}
    while any(candidates.values()):
        kind = draw.choice([kind for kind, left in candidates.items() if left])
        at = candidates[kind].pop(draw.randrange(len(candidates[kind])))
        new = changes.get(kind, dropped)(at.statement, draw)
        if new is not None and new != at.statement and len(new) <= len(at.statement):
            yield kind, at, new


def repeated(candidates, table):
    """The changes of a table, as `drawn` gives them."""
    known = {(at.kernel, at.line(), shown(at.statement)): at for each in candidates.values() for at in each}
    for row in csv.DictReader(table, delimiter="\t"):
        at = known.get((row["kernel"], int(row["line"]), row["before"]))
        if not at:
            print(f"no longer there: {row['before']} in line {row['line']} of {row['kernel']}", file=sys.stderr)
        elif row["outcome"] != "not reached":
            yield row["kind"], at, row["after"].encode()


def shown(statement):
    return " ".join(statement.decode().split())


def main():
    parser = argparse.ArgumentParser(description="Breaks the PTX of a program that links the machine, and runs it. "
                                                 "Prints a table, columns apart by tabs.")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*", help="of the program")
    parser.add_argument("--count", type=int, default=20, help="of changes that are reached")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120, help="that a run may take; more is noticed")
    parser.add_argument("--repeat", type=argparse.FileType(), help="a table, whose changes are made again")
    options = parser.parse_args()
    with open(options.program, "rb") as file:
        program = file.read()
    name = os.path.basename(options.program)
    candidates = places(program, launched(options.program, options.arguments))
    changes = repeated(candidates, options.repeat) if options.repeat else drawn(candidates, random.Random(options.seed))
    totals = {"noticed": 0, "not reached": 0, "survived": 0}
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow(["program", "outcome", "kind", "before", "after", "by", "source", "line", "kernel"])
    for kind, at, new in changes:
        def with_statement(new, at=at):
            return end_of(program, at.begin, at.statement, new, options.arguments, options.seconds)
        is_reached = with_statement(b"trap;") != ""
        by = with_statement(new) if is_reached else ""
        outcome = "noticed" if by else "survived" if is_reached else "not reached"
        totals[outcome] += 1
        table.writerow([name, outcome, kind, shown(at.statement), shown(new), by, at.source(), at.line(), at.kernel])
        sys.stdout.flush()
        reached = totals["noticed"] + totals["survived"]
        if reached == options.count and not options.repeat:
            break
    print(f"{name}: " + ", ".join(f"{count} {outcome}" for outcome, count in totals.items()), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
