# examples/minilm/make_letters.py: writes letters.hpp, the tables of Unicode that BERT's tokenizer needs.
# usage: python3 make_letters.py > letters.hpp
# SPDX-License-Identifier: Apache-2.0
import sys
import unicodedata

LAST = 0x10000  # of letters beyond, few have accents


def plain(character):
    """A character in lower case without its accents; Hangul is taken apart by a formula of Unicode's."""
    parts = unicodedata.normalize("NFD", character)
    return "".join(c.lower() for c in parts if unicodedata.category(c) != "Mn")


def ranges(holds):
    found = []
    for code in range(LAST):
        if not holds(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def runs():
    """Runs of characters that become one other: first, last, step, target and whether the target moves along."""
    mapped = {}
    for code in range(LAST):
        text = plain(chr(code))
        is_left = 0xAC00 <= code <= 0xD7A3 or 0xF900 <= code <= 0xFAFF  # Hangul; ideographs of old encodings
        if len(text) == 1 and text != chr(code) and not is_left:
            mapped[code] = ord(text)
    found, taken = [], set()
    for code in sorted(mapped):
        if code in taken:
            continue
        best = [code]
        for step in (1, 2):
            for moves in (0, step):
                run = [code]
                while run[-1] + step in mapped and mapped[run[-1] + step] == mapped[run[-1]] + moves \
                        and run[-1] + step not in taken:
                    run.append(run[-1] + step)
                if len(run) > len(best):
                    best, best_step, best_moves = run, step, moves
        if len(best) == 1:
            best_step, best_moves = 1, 0
        taken.update(best)
        found.append((best[0], best[-1], best_step, mapped[best[0]], 1 if best_moves else 0))
    return found


def print_table(kind, name, comment, rows):
    print(f"\n/// {comment}\ninline constexpr {kind} {name}[] = {{")
    line = "   "
    for row in rows:
        text = " {" + ", ".join(hex(n) if n > 9 else str(n) for n in row) + "},"
        if len(line) + len(text) > 120:
            print(line)
            line = "   "
        line += text
    print(line.rstrip(",") + "};")


def category(*names):
    return lambda c: unicodedata.category(c).startswith(names)


print(f"""// examples/minilm/letters.hpp: which characters are accents, punctuation or controls; letters in lower case.
// Written by make_letters.py from the tables of Unicode {unicodedata.unidata_version}.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace minilm {{

struct character_range {{
  char32_t first, last;
}};
/// Every `step`th character from `first` to `last` becomes `target`, which moves along with it, or stays.
struct letter_run {{
  char32_t first, last, step, target;
  bool moves;
}};

// clang-format off""")
print_table("character_range", "accents", "Marks that stand on or below a letter (Mn).", ranges(category("Mn")))
print_table("character_range", "punctuation", "Punctuation (P), and the symbols of ASCII.",
            ranges(lambda c: category("P")(c) or (c.isascii() and category("S")(c))))
print_table("character_range", "controls", "What is taken out of a text: controls, formats and private use.",
            ranges(category("Cc", "Cf", "Co")))
print_table("letter_run", "letters", "Letters that become others in lower case and without accents.", runs())
print("// clang-format on\n\n}  // namespace minilm")
