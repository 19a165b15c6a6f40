#!/usr/bin/env python3
"""Checks the rules of the house that no compiler knows; run by `make lint`.

    check_rooms.py [ROOT]

- A room includes rooms of a lower rank only (RANKS), a public header only public headers.
- protozero stays in wire/ and in .cc files, CRoaring in base/bitmap.cc, out of include/ both.
- No source file over MAX_FILE_LINES, no function over MAX_FUNCTION_LINES, no banned file name.

scripts/rooms_waivers.txt lifts a size limit: `<path>[:<function>]  <reason>`, one a line.
Prints one line a fault, `path:line: what, and what to do`, and exits 1 if there is one.
"""

import re
import sys
from pathlib import Path

# The order in which data flows (docs/architecture.md). Rooms of one rank do not know each other.
RANKS = {
    "base": 0,
    "io": 1, "wire": 1,
    "schema": 2,
    "expr": 3, "encoding": 3,
    "file": 4,
    "table": 5,
    "overlay": 6, "index": 6, "commit": 6,
    "read": 7,
    "write": 8,
    "maintain": 9,
    "dataset": 10,
    "cli": 11, "python": 11,
}
DOORS = {"cli", "python"}
# Public headers that speak for the dataset room; the others are plain data that every room may use.
DATASET_HEADERS = {"dataset.h", "pennon.h", "c.h"}
BANNED_NAME = re.compile(r"(^|_)(utils?|commons?|helpers?|misc)($|_)")
MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 80
SOURCE_FOLDERS = ("include", "src", "cli", "python", "fuzz", "benchmarks", "tests", "scripts", "examples")
CXX = {".h", ".cc", ".hpp", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def room_of(path):
    """The room a source file belongs to, or None: `public` for include/, doors by their folder."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 3:
        return parts[2]
    if parts[0] == "include":
        return "public"
    if parts[0] in DOORS:
        return parts[0]
    return None


def include_fault(path, target):
    """What is wrong with `path` including `target`, or None."""
    room = room_of(path)
    parts = Path(target).parts
    if parts[0] == "protozero" and (room == "public" or (room != "wire" and path.suffix not in {".cc", ".cpp"})):
        return "protozero belongs in wire/ or in a .cc file"
    if target.startswith("roaring") and path.as_posix() != "src/pennon/base/bitmap.cc":
        return "CRoaring belongs in base/bitmap.cc alone; use Bitmap"
    if parts[0] != "pennon" or room is None:
        return None
    if len(parts) == 2:
        return public_include_fault(room, parts[1])
    used = parts[1]
    if room == "public":
        return f"a public header includes the internal room {used}; move the type or use a pimpl"
    if room not in RANKS:
        return f"room {room} has no rank; add it to RANKS in scripts/check_rooms.py"
    if used not in RANKS:
        return f"room {used} has no rank; add it to RANKS in scripts/check_rooms.py"
    if used != room and RANKS[used] >= RANKS[room]:
        way = "upward" if RANKS[used] > RANKS[room] else "sideways"
        return f"{way} include: {room} (rank {RANKS[room]}) must not know {used} (rank {RANKS[used]})"
    return None


def public_include_fault(room, header):
    if header in DATASET_HEADERS and room != "public" and RANKS.get(room, 0) < RANKS["dataset"]:
        return f"upward include: {room} must not know the dataset's public header {header}"
    return None


def strip_cxx(text):
    """`text` with comments, literals and preprocessor lines blanked, line breaks kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
        re.S | re.M)
    return pattern.sub(lambda m: "\n" * m.group(0).count("\n"), text)


ACCESS_LABEL = re.compile(r"\b(public|protected|private)\s*:(?!:)")
# What stands between the last `;` or brace and a `{` tells what the brace opens.
NOT_FUNCTION = re.compile(r"\s*(template\s*<[^{]*>\s*)?(namespace|struct|class|enum|union|extern)\b(?!.*\))", re.S)
FUNCTION_HEAD = re.compile(r"\)\s*(const|noexcept|override|final|mutable|&|->[^(){};]*|\s)*$")
MEMBER_BRACE = re.compile(r"\)\s*(noexcept\s*)?:\s*\w[^;]*$", re.S)


def functions(text):
    """Yields (name, first line, lines) of each outermost function body, by counting braces."""
    code = ACCESS_LABEL.sub(lambda m: " " * len(m.group(0)), strip_cxx(text))
    scopes = []  # "function", "member" (an initialiser inside a constructor's list) or "plain"
    head, line, start, name = 0, 1, 0, ""
    for position, char in enumerate(code):
        if char == "\n":
            line += 1
        elif char == "{":
            kind = "inner"
            if "function" not in scopes:
                before = code[head:position]
                kind = brace_kind(before)
                if kind == "function":
                    start, name = line - before.lstrip().count("\n"), function_name(before)
                elif kind == "plain":
                    head = position + 1
            scopes.append(kind)
        elif char == "}" and scopes:
            kind = scopes.pop()
            if kind == "function":
                yield name, start, line - start + 1
            if kind in ("function", "plain") and "function" not in scopes:
                head = position + 1
        elif char == ";" and "function" not in scopes:
            head = position + 1


def brace_kind(before):
    if NOT_FUNCTION.match(before):
        return "plain"
    if re.search(r"\w\s*$", before) and MEMBER_BRACE.search(before):
        return "member"
    if FUNCTION_HEAD.search(before) or (before.rstrip().endswith("}") and MEMBER_BRACE.search(before)):
        return "function"
    return "plain"


def function_name(before):
    found = re.search(r"([~\w:]+)\s*\(([^)]*)\)", before)
    if not found:
        return "function"
    if found.group(1) in ("TEST", "TEST_F", "TEST_P", "TYPED_TEST"):
        return ".".join(part.strip() for part in found.group(2).split(","))
    return found.group(1)


def python_functions(text):
    import ast
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def read_waivers(root):
    """Path or path:function of each waiver; a waiver without a reason is a fault."""
    waivers, faults = set(), []
    path = root / "scripts/rooms_waivers.txt"
    if path.exists():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            what, _, reason = line.partition(" ")
            waivers.add(what)
            if not reason.strip():
                faults.append(f"scripts/rooms_waivers.txt:{number}: waiver without a reason")
    return waivers, faults


def check_file(root, path, waivers):
    """Yields the faults of one file; `path` is relative to `root`."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    if BANNED_NAME.search(path.stem):
        yield f"{path}:1: banned file name; name the file after the noun it holds"
    if len(lines) > MAX_FILE_LINES and path.as_posix() not in waivers:
        yield f"{path}:{MAX_FILE_LINES}: {len(lines)} lines, over {MAX_FILE_LINES}; split it by noun"
    if path.suffix in CXX:
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            fault = include_fault(path, found.group(1)) if found else None
            if fault:
                yield f"{path}:{number}: {fault}"
    for name, line, length in (functions if path.suffix in CXX else python_functions)(text):
        if length > MAX_FUNCTION_LINES and f"{path.as_posix()}:{name}" not in waivers:
            yield f"{path}:{line}: {name} has {length} lines, over {MAX_FUNCTION_LINES}; split it"


def source_files(root):
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in CXX | {".py"} and path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root)


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).resolve().parent.parent)
    waivers, faults = read_waivers(root)
    count = 0
    for path in source_files(root):
        count += 1
        faults.extend(check_file(root, path, waivers))
    for fault in faults:
        print(fault)
    print(f"check_rooms: {count} files, {len(faults)} faults")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
