# docs/site/headers.py: the public names of the headers that the doors bring, with their docstrings and declarations.
# Headers are laid out by clang-format: what a namespace holds begins at the first column, and what follows is indented.
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import pathlib
import re

root = pathlib.Path(__file__).resolve().parent.parent.parent
doors = ["expressions.hpp", "products.hpp", "algorithms.hpp", "linalg.hpp", "tenon.hpp", "train.hpp"]
hidden_namespaces = {"detail", "engine", "simd"}
internal_rooms = {"plan", "host", "kernels", "contraction", "device"}  # docs/stability.md says so, too
words = r"(?:TENON_\w+|inline|static|constexpr|explicit|friend|extern|\[\[[^\]]*\]\])\s+"


@dataclasses.dataclass
class declaration:
    name: str  # with its namespace
    kind: str
    header: str  # below include/tenon
    line: int
    docs: list
    text: str


def headers_of_doors():
    """Path below include/tenon -> text, of every header that a door includes, directly or not."""
    found, waiting = {}, list(doors)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = (root / "include/tenon" / path).read_text()
        waiting += re.findall(r"^#include <tenon/([^>]+)>", found[path], re.M)
    return found


def room_of(header):
    return header.split("/")[0]


def without_texts(line):
    """The line without comments and without what stands in quotes, so that its brackets can be counted."""
    line = re.sub(r"(?<=\d)'(?=\d)", "", line)
    line = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "0", line)
    return re.sub(r"//.*", "", line)


def after_template(lines):
    """The declaration behind its template headers and constraints, as one text."""
    text = "\n".join(lines)
    while re.match(r"template\s*<", text):
        depth = parens = 0
        for at in range(text.index("<"), len(text)):
            each = text[at]
            parens += (each in "([{") - (each in ")]}")
            if parens == 0 and each in "<>" and text[at - 1 : at + 1] not in ("->", ">="):
                depth += 1 if each == "<" else -1
                if depth == 0:
                    break
        rest = text[at + 1 :].lstrip("\n")
        while rest[:1] == " ":  # what is indented is a constraint, or stands on the same line
            first, _, behind = rest.partition("\n")
            if not first.strip().startswith("requires") and not re.match(r"\s{2,}", first):
                rest = first.lstrip()
                rest += "\n" + behind if behind else ""
                break
            rest = behind
        text = rest
    return text


def name_of(lines):
    """Kind and name of a declaration, or None for what declares nothing of its own."""
    text = after_template(lines)
    if re.match(r"(using namespace|static_assert|extern template|template |friend |TENON_\w+\()", text):
        return None
    while match := re.match(words, text):
        text = text[match.end() :]
    text = re.sub(r"^(const )?decltype\(auto\)", "auto", text)
    text = re.sub(r"^((?:struct|class|union) )alignas\([^{;]*?\) (?=\w+ [:{])", r"\1", text)
    if match := re.match(r"using (\w+)\s*(?:\[\[[^\]]*\]\]\s*)?=", text):
        return "type", match[1]
    if match := re.match(r"concept (\w+)\s*=", text):
        return "concept", match[1]
    if match := re.match(r"(?:struct|class|union|enum class|enum) (?:TENON_\w+ |\[\[[^\]]*\]\] |alignas\(\w+\) )*(\w+)\s*([<:{;]|final)", text):
        is_own = match[2] not in "<;" and "{" in text
        return ("enumeration" if text.startswith("enum") else "type", match[1]) if is_own else None
    if re.match(r"\w+\([^;{]*\)\s*->", text) or re.match(r"(using|struct|class) ", text):
        return None
    if match := re.match(r"[^({;=]*?\boperator\s*(\"\"\s*\w+|[^\s\w(]+|\w+)\s*\(", text):
        return "function", f"operator{match[1]}"
    flat, before = without_texts(text.replace("\n", " ")), ""
    while before != flat:
        before, flat = flat, re.sub(r"<[^<>]*>", "@", flat)
    match = re.match(r"([^({=;]*?)((?:\w+::|@::)*)(~?\w+)(@?)\s*(?:\[[^\]]*\]\s*)?([({=;])", flat)
    if not match or not match[1].strip() or match[4]:
        return None
    if match[2]:  # a member that is defined outside of its class, or a type with a namespace: the name is no own one
        return None
    return ("function" if match[5] == "(" else "variable"), match[3]


def declarations_of(header, text):
    namespaces, docs, at, before = [], [], 0, []
    lines = text.split("\n")
    while at < len(lines):
        line, first = lines[at], at
        at += 1
        if match := re.match(r"(?:inline )?namespace ([\w:]+) \{$", line):
            namespaces.append(match[1].split("::"))
        elif line.startswith("}  // namespace") or line == "}":
            namespaces.pop()
        elif line.startswith("///"):
            docs.append(line[3:])
            continue
        elif line.startswith("#"):
            while lines[at - 1].endswith("\\"):
                at += 1
            continue
        elif line and not line.startswith("//") and namespaces:
            depth = 0
            at -= 1
            while at < len(lines):
                bare = without_texts(lines[at]).rstrip()
                depth += sum(each in "({[" for each in bare) - sum(each in ")}]" for each in bare)
                at += 1
                ends = bare.endswith((";", "}")) or re.match(r"TENON_\w+(\(.*\))?$", bare)
                if depth == 0 and ends and after_template(lines[first:at]).strip():  # not a constraint alone
                    break
            spaces = [part for each in namespaces for part in each]
            found = name_of(lines[first:at])
            if found and spaces[:1] == ["tenon"] and not hidden_namespaces & set(spaces):
                kind, name = found
                comment = re.search(r"///< (.*)", lines[first])
                own = docs or ([" " + comment[1]] if comment else before)  # lines without a gap share a docstring
                before = own
                yield declaration("::".join([*spaces, name]), kind, header, first + 1, own, "\n".join(lines[first:at]))
            docs = []
            continue
        docs, before = [], []


def public_names():
    """Name -> its declarations, in the order of headers. Rooms that programs never name are left out."""
    found = {}
    for header, text in sorted(headers_of_doors().items()):
        if room_of(header) in internal_rooms:
            continue
        for each in declarations_of(header, text):
            found.setdefault(each.name, []).append(each)
    return found


def others_named_by(each):
    """Words of a declaration that may say what it is: what a variable or an alias is made of, what a function returns."""
    if each.kind in ("variable", "type") and "{\n" not in each.text:
        return re.findall(r"\w+", each.text)
    return re.findall(r"\{\s*return (\w+)[(<]", each.text) if each.kind == "function" else []


def described(names):
    """Names with a docstring of their own, and names that are described by that of another: name -> the other."""
    own = {name for name, all_of in names.items() if any(each.docs for each in all_of)}
    through = {}
    for _ in range(2):
        for name, all_of in names.items():
            space = name.rpartition("::")[0]
            for word in (word for each in all_of for word in others_named_by(each)):
                other = f"{space}::{word}"
                if name not in own and name not in through and other != name and (other in own or other in through):
                    through[name] = other if other in own else through[other]
    return own, through


def undescribed(names):
    own, through = described(names)
    return [name for name in names if name not in own and name not in through]
