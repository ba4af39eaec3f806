# docs/site/reference.py: a page for each public name, and one for each header and room.
# A page has the docstring as it stands in the header, the declarations without their bodies, the row of the guide that says
# what the name does, and where the guide uses it.
# SPDX-License-Identifier: Apache-2.0
import pathlib
import re

import headers

root = headers.root
rooms = {
    "base": "what everything may use", "core": "tensors, extents, views, spaces", "expr": "what a statement may say",
    "algorithms": "sorting, scans, selection, scattering", "grad": "gradients", "linalg": "linear algebra", "nn": "layers, losses, networks",
    "train": "optimizers, schedules, checkpoints, logs", "data": "data sets and loaders", "io": "files",
    "distributed": "several processes",
}  # fmt: skip
signs = {
    "+": "plus", "-": "minus", "*": "times", "/": "over", "%": "mod", "&": "and", "|": "or", "^": "xor", "!": "not",
    "~": "complement", "<": "less", ">": "greater", "=": "equal",
}  # fmt: skip
keys = "extents|types|throws|accuracy|cost|gradient|source|example|parameters|members"


def file_of(name):
    short = name.removeprefix("tenon::").replace("::", ".")
    if "operator" in short:
        short = short.replace("operator", "operator_") if short[-1].isalnum() else short
        short = re.sub(r"operator(\W+)$", lambda match: "operator_" + "_".join(signs[sign] for sign in match[1]), short)
    return short


def page_of_header(header):
    """The page of a header from the root of the site, or None for one that no door brings."""
    return f"reference/headers/{header.removesuffix('.hpp')}.md" if header in known_headers else None


known_headers = {header for header in headers.headers_of_doors()}


def described_text(docs):
    """A docstring as Markdown: its sentences, then its keys as a table of definitions. Examples are code."""
    prose, entries = [], []
    for line in docs:
        line = line[1:] if line.startswith(" ") else line
        match = re.match(rf"({keys})( {{1,}})(\S.*)$", line)
        if match and (len(match[2]) > 1 or len(match[1]) + len(match[2]) >= 9 or match[1] in ("parameters", "accuracy")):
            entries.append([match[1], [match[3]], len(match[1]) + len(match[2])])
        elif entries and (line.startswith("  ") or not line):
            entries[-1][1].append(line[entries[-1][2] :] if line[: entries[-1][2]].isspace() else line.strip())
        else:
            prose.append(line)
    lists = any(re.match(r"\s{2,}\S", line) for line in prose)
    text = "```text\n" + "\n".join(prose) + "\n```" if lists else " ".join(prose)
    if not lists:
        text = re.sub(r"<(?!=)", "&lt;", re.sub(r"(`[^`]*`)", lambda m: m[1].replace("<", "\0"), text)).replace("\0", "<")
    for key, lines, _ in entries:
        if key == "example" or len(lines) > 1 and any(line.startswith("  ") for line in lines):
            text += f"\n\n**{key}**\n\n```cpp\n" + "\n".join(lines) + "\n```"
        else:
            words = " ".join(lines)
            words = words if "`" in words else re.sub(r"([<*_\[\]|])", r"\\\1", words)
            text += f"\n\n**{key}** — {words}"
    return text + "\n"


def without_bodies(text):
    """A declaration without bodies of functions, and of a type what is public."""
    lines = text.split("\n")
    if text.startswith("enum"):
        return text
    if not re.search(r"^(struct|class|union)\b", text, re.M):
        return cut(text)
    kept, at = [], 0
    while at < len(lines) and not headers.without_texts(lines[at]).rstrip().endswith("{"):
        kept.append(lines[at])
        at += 1
    kept += lines[at : at + 1]
    at += 1
    is_public = not re.search(r"^class\b", text, re.M)
    kept += [] if is_public else [" public:"]
    while at < len(lines) and not lines[at].startswith("}"):
        if re.match(r" (public|private|protected):", lines[at]):
            is_public = lines[at].startswith(" public")
            at += 1
            continue
        member, depth = [], 0
        while at < len(lines) and not lines[at].startswith("}"):  # one member, or a comment or gap before it
            bare = headers.without_texts(lines[at]).rstrip()
            depth += sum(each in "({[" for each in bare) - sum(each in ")}]" for each in bare)
            member.append(lines[at])
            at += 1
            if depth == 0 and (not bare.strip() or bare.endswith((";", "}"))):
                break
        if is_public and not re.match(r"\s*(TENON_NO_EXEC_CHECK|static_assert)", member[0]):
            kept += member_without_body(member)
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join([*kept, *lines[at:]])


def member_without_body(member):
    first = next((line for line in member if re.match(r"  (struct|class|enum|union|using|friend struct) ", line)), None)
    if first or not headers.without_texts(member[-1]).rstrip().endswith("}"):
        return member
    text = "\n".join(member)
    bare = "\n".join(re.sub(r"//.*", "", line) for line in member)
    depth = 0
    for at, each in enumerate(bare):  # comments stand behind, so that places agree up to the body in all but odd cases
        depth += (each in "([") - (each in ")]")
        if depth == 0 and (each == "{" and bare[max(at - 2, 0) : at] not in ("= ",) or bare[at : at + 3] == " : " and ")" in bare[:at]):
            return (bare[:at].rstrip() + ";").split("\n")
    return text.split("\n")


def cut(text):
    """A function without its body."""
    found = []
    if re.search(r"\)[^;]*\{.*\}$", text) and "\n}" not in text:  # on one line
        return re.sub(r" \{.*\}$", ";", text)
    for line in text.split("\n"):
        bare = headers.without_texts(line).rstrip()
        if bare.endswith("{"):
            found.append(line.rstrip(" {") + ";")
            break
        found.append(line)
    return "\n".join(found)


def tidy(text):
    text = re.sub(r"\b(TENON_HOST_DEVICE|TENON_INLINE|TENON_LIFETIMEBOUND|TENON_FUNCTION_OBJECT|TENON_IF_CALLED) ?", "", text)
    return re.sub(r" +;$", ";", text, flags=re.M)


def table_rows():
    """Name -> {(page, head of a table): its rows} of the tables of operations and layers."""
    found = {}
    for page in ("docs/operations.md", "docs/guide/layers.md"):
        head, lines = [], (root / page).read_text().split("\n")
        for at, line in enumerate(lines):
            if not line.startswith("|"):
                head = []
            elif not head:
                head = [line, lines[at + 1]]
            elif not line.startswith("|--"):
                first = re.split(r"(?<!\\)\|", line)[1]
                for code in re.findall(r"`([^`]*)`", first):
                    if match := re.match(r"(?:[a-z]+[.])?([a-z_]\w*)(?=[(<{ ]|$)", code):
                        tables = found.setdefault(match[1], {})
                        rows = tables.setdefault((page, *head), [])
                        if line not in rows:
                            rows.append(line)
    return found


def uses():
    """Word -> pages of the guide whose code has it."""
    found = {}
    for path in [*sorted((root / "docs/guide").glob("*.md")), *sorted((root / "docs").glob("*.md"))]:
        if path.name.startswith(("CHANGELOG", "performance", "house", "status", "index", "roadmap")):
            continue
        text = path.read_text()
        title = re.search(r"^# (.*)", text, re.M)[1]
        for word in set(re.findall(r"\b[a-z_]\w+\b", " ".join(re.findall(r"^```cpp\n(.*?)^```", text, re.M | re.S)))):
            found.setdefault(word, []).append((path.relative_to(root).as_posix(), title))
    return found


def behind(name, all_of, names):
    """The type that an alias names, where that has a docstring, too: most layers are aliases of templates."""
    match = re.search(r"^using \w+\s*=\s*(\w+)", all_of[0].text, re.M)
    other = match and f"{name.rpartition('::')[0]}::{match[1]}"
    return other if other in names and any(each.docs for each in names[other]) else None


def bases_of(name, names):
    """The bases of a type that say what extents it has or when it throws, and theirs: layers share such bases."""
    found = []
    for each in names[name]:
        match = re.match(r"(?:struct|class) \w+(?: final)?\s*:([^{]*)\{", headers.after_template(each.text.split("\n")))
        text, before = match[1] if match else "", ""
        while before != text:
            before, text = text, re.sub(r"<[^<>]*>", "", text)
        for word in re.findall(r"(\w+)\s*(?:,|$)", text):
            other = f"{name.rpartition('::')[0]}::{word}"
            if other in names and other != name:
                says = any(re.match(r" (extents|throws|parameters) ", line) for own in names[other] for line in own.docs)
                found += ([other] if says else []) + bases_of(other, names)
    return list(dict.fromkeys(found))


common = {"index", "dtype", "memory_space", "host", "shape_type", "tensor_operand"}  # in every second declaration


def named_in(name, all_of, names):
    """The public types that its declarations name, of its namespace or of tenon: those of options above all."""
    found = []
    for each in all_of:
        text = re.sub(r"///.*", "", without_bodies(each.text))
        for word in re.findall(r"\b[a-z]\w*\b(?!\()", text):
            if word in common:
                continue
            for space in (name.rpartition("::")[0], "tenon"):
                other = f"{space}::{word}"
                if other in names and other != name and names[other][0].kind in ("type", "enumeration", "concept"):
                    found.append(other)
                    break
    return list(dict.fromkeys(found))


def page_of(name, all_of, through, names, rows, used):
    short = name.rpartition("::")[2]
    title = name if name.startswith("tenon::") else short
    door = next(each for each in headers.doors if all_of[0].header in reach[each])
    room = headers.room_of(all_of[0].header) if "/" in all_of[0].header else "tools"
    text = [f"# {title.replace('<', '&lt;')}\n"]
    text.append(f"{all_of[0].kind[:1].upper()}{all_of[0].kind[1:]} of [{room}]({room}.room.md); `#include <tenon/{door}>` brings it.\n")
    seen = []
    for each in all_of:
        if each.docs and each.docs not in seen:
            seen.append(each.docs)
            text.append(described_text(each.docs))
    other = through.get(name) or behind(name, all_of, names)
    if other:
        text.append(f"Described with [`{other.removeprefix('tenon::')}`]({file_of(other)}.md):\n")
        text += [described_text(each.docs) for each in names[other] if each.docs][:1]
    for base in bases_of(other or name, names):
        text.append(f"Like every [`{base.removeprefix('tenon::')}`]({file_of(base)}.md):\n")
        text += [described_text(each.docs) for each in names[base] if each.docs][:1]
    for (page, *head), found in rows.get(short, {}).items():
        up = "../" + page
        table = "\n".join([*head, *found])
        folder = page.rpartition("/")[0]
        table = re.sub(r"\]\((?!http|#)([^)]+)\)", lambda match: f"](../{folder}/{match[1]})", table)
        table = re.sub(r"\]\(#", f"]({up}#", table)
        text.append(f"From [{'operations' if 'operations' in page else 'layers'}]({up}):\n\n{table}\n")
    text.append("## Declaration\n")
    for each in all_of:
        text.append(f"```cpp\n{tidy(without_bodies(each.text))}\n```\n")
        text.append(f"[tenon/{each.header}](headers/{each.header.removesuffix('.hpp')}.md), line {each.line}\n")
    near = named_in(name, all_of, names)[:12]
    if near:
        text.append("See also: " + ", ".join(f"[`{each.removeprefix('tenon::')}`]({file_of(each)}.md)" for each in near) + "\n")
    places = used.get(short, [])[:6]
    if places:
        text.append("## In the guide\n\n" + ", ".join(f"[{title}](../{path})" for path, title in places) + "\n")
    return "\n".join(text)


def brief(docs):
    """The first sentence, for lists."""
    words = " ".join(line.strip() for line in docs)
    words = re.split(r"(?<=[.])\s|\s{2,}", words)[0]
    words = words if len(words) < 160 else words[:160].rpartition(" ")[0] + " ..."
    words = re.sub(r"(`[^`]*)$", lambda m: m[1].replace("`", ""), words) if words.count("`") % 2 else words
    return words.replace("|", "\\|").replace("<", "&lt;") if "`" not in words else words.replace("|", "\\|")


def list_of(names, chosen, through, up):
    lines = ["| name | |", "|---|---|"]
    for name in chosen:
        docs = next((each.docs for each in names[name] if each.docs), None) or next(
            (each.docs for each in names.get(through.get(name), []) if each.docs), [])  # fmt: skip
        shown = name.removeprefix("tenon::").replace("|", "\\|")
        shown = f"<code>{shown.replace('&', '&amp;').replace('<', '&lt;').replace(chr(92) + '|', '&#124;')}</code>"
        lines.append(f"| [{shown}]({up}{file_of(name)}.md) | {brief(docs)} |")
    return "\n".join(lines) + "\n"


def reached_from(door, all_headers):
    found, waiting = set(), [door]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += re.findall(r"^#include <tenon/([^>]+)>", all_headers[path], re.M)
    return found


reach = {}


def write(folder):
    """Writes all pages; how many names and headers have one."""
    all_headers = headers.headers_of_doors()
    reach.update({door: reached_from(door, all_headers) for door in headers.doors})
    names = headers.public_names()
    _, through = headers.described(names)
    rows, used = table_rows(), uses()
    assert len({file_of(name).lower() for name in names}) == len(names), "two names share a page"
    (folder / "headers").mkdir(parents=True, exist_ok=True)
    for name, all_of in names.items():
        (folder / f"{file_of(name)}.md").write_text(page_of(name, all_of, through, names, rows, used))
    for header, text in all_headers.items():
        own = [name for name, all_of in names.items() if any(each.header == header for each in all_of)]
        idea = [line[3:] for line in text.split("\n")[:2]]
        page = folder / "headers" / f"{header.removesuffix('.hpp')}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (1 + header.count("/"))
        includes = [each for each in re.findall(r"^#include <tenon/([^>]+)>", text, re.M)]
        to = "../" * header.count("/")
        below = ", ".join(f"[{each}]({to}{each.removesuffix('.hpp')}.md)" for each in includes)
        about = idea[0].split(": ", 1)[-1]
        page.write_text(f"# tenon/{header}\n\n{about[:1].upper()}{about[1:]} {idea[1]}\n\n"
                        + (list_of(names, own, through, up) if own else "It declares no public name.\n")
                        + (f"\nIncludes {below}.\n" if below else ""))  # fmt: skip
    groups = {}
    for name, all_of in names.items():
        room = headers.room_of(all_of[0].header)
        groups.setdefault(room if "/" in all_of[0].header else "tools", []).append(name)
    index = ["# Reference\n", "A page for every public name that the doors of the library bring. Search finds them, too.\n"]
    index += ["| room | names | |", "|---|---:|---|"]
    for room, own in groups.items():
        what = rooms.get(room, "evaluation, profiles, logs of what runs")
        index.append(f"| [{room}]({room}.room.md) | {len(own)} | {what} |")
        own = sorted(own, key=lambda name: name.lower())
        (folder / f"{room}.room.md").write_text(f"# Room {room}\n\n{what[:1].upper()}{what[1:]}.\n\n{list_of(names, own, through, '')}")
    index.append("\nRooms that programs do not name (plan, host, kernels, contraction, device) have pages of their headers alone;")
    index.append("[stability](../docs/stability.md) says which names keep their meaning.\n")
    (folder / "index.md").write_text("\n".join(index))
    return len(names), len(all_headers)
