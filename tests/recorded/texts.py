"""Makes of an answer the text that is recorded: what differs from run to run has a name in its place, and JSON has
lines. But for these, the bytes can be read off it: only line breaks and the spaces after them are added."""
import json
import re

WIDTH = 118
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[,:] *|[^\s{}\[\],:"]+')
ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])")
# Varying texts other than ids, each with the placeholder that replaces it.
PLAIN = (
    (re.compile(r'"connections":\d+,"streams":\d+'), '"connections":<number>,"streams":<number>'),
    (re.compile(r'"turnSeconds":{[^{}]*}'), '"turnSeconds":<numbers>'),
    (re.compile(r'"version":"[^"]+"(?=,"(?:at|startedAt|storeWritable)")'), '"version":"<version>"'),
    (re.compile(r"\b(in|after) [\d.]+ m?s\b"), r"\1 <duration>"),
    (re.compile(r"(<style>).*?(</style>)", re.S), r"\1...\2"),
    (re.compile(r"\bt\d+-\d+-\d{9,20}\b"), "<turn>"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT"), "<date>"),
    (re.compile(r"\b1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"), "<seconds>"),
)
# Members of JSON whose value is a random or opaque text, or a number that depends on time.
OPAQUE = re.compile(r'"(nextPageToken|next|cursor|token|etag|traceId|traceparent)":"([^"]+)"')
DURATION = re.compile(r'"((?:\w*(?:Seconds|Ms|_ms|Bytes|Kib|Rate1m)|uptimeS|ageS|lateS))":[0-9.e-]+')


class Names:
    """The names of one scene, by order of appearance. `known`: texts that have a name from the beginning."""

    def __init__(self, known):
        self.known = dict(known)
        self.ids, self.opaque = {}, {}

    def plain(self, text):
        for value, name in self.known.items():
            text = text.replace(value, name)
        text = OPAQUE.sub(lambda found: f'"{found[1]}":"{self.opaque_name(found[2])}"', text)
        text = DURATION.sub(r'"\1":<number>', text)
        for pattern, name in PLAIN:
            text = pattern.sub(name, text)
        return ID.sub(lambda found: self.ids.setdefault(found[0], f"<id {len(self.ids) + 1}>"), text)

    def opaque_name(self, value):
        if value.startswith("<"):
            return value
        return self.opaque.setdefault(value, f"<opaque {len(self.opaque) + 1}>")


def is_json(text):
    """Whether it is JSON, but for names in place of numbers."""
    try:
        json.loads(re.sub(r":<\w+>", ":0", text))
        return True
    except ValueError:
        return False


def laid_out(text):
    """JSON over several lines; anything else as it is."""
    if not is_json(text):
        return text
    tokens = TOKEN.findall(text)
    if "".join(tokens) != text:
        return text
    return "\n".join(_lines(_tree(iter(tokens)), 0))


def _tree(tokens, first=None):
    """A token, or (the opening one, the entries, the closing one); an entry is [its name with the colon, its value, the
    comma]."""
    token = first or next(tokens)
    if token not in "{[":
        return token
    entries, name = [], ""
    for part in tokens:
        if part in "}]":
            return token, entries, part
        if part[0] == ",":
            entries[-1][2] = part
        elif part[0] == ":":
            name = entries.pop()[1] + part
        else:
            entries.append([name, _tree(tokens, part), ""])
            name = ""
    raise AssertionError("JSON without an end")


def _flat(tree):
    if isinstance(tree, str):
        return tree
    return tree[0] + "".join(name + _flat(value) + comma for name, value, comma in tree[1]) + tree[2]


def _lines(tree, depth, before="", after=""):
    flat = " " * depth + before + _flat(tree) + after
    if isinstance(tree, str) or len(flat) <= WIDTH:
        return [flat]
    lines, line = [" " * depth + before + tree[0]], ""
    for name, value, comma in tree[1]:
        piece = name + _flat(value) + comma
        if line and len(line) + len(piece) > WIDTH:
            lines.append(line)
            line = ""
        if not line and len(piece) > WIDTH - depth - 1:
            lines += _lines(value, depth + 1, name, comma)
        else:
            line = line + piece if line else " " * (depth + 1) + piece
    if line:
        lines.append(line)
    return [*lines[:-1], lines[-1] + tree[2] + after]


def units(text):
    """(the lines that are no JSON and no ids, the ids, the JSON) of what `laid_out` or `stream` has made."""
    others, ids, found, begun = [], [], [], ""
    for line in text.split("\n"):
        if begun:
            begun += line.lstrip(" ")
        elif line.startswith(("{", "[", "data: {")):
            begun = line.removeprefix("data: ")
        else:
            (ids if line.startswith("id: ") else others).append(line)
            continue
        if is_json(begun):
            found.append(begun)
            begun = ""
    return [*others, *([begun] if begun else [])], ids, found


def stream(text):
    """An event stream, with the JSON of its data laid out."""
    out = []
    for line in text.split("\n"):
        head, colon, rest = line.partition(": ")
        out.append(f"{head}: {laid_out(rest)}" if head == "data" and colon else line)
    return "\n".join(out)
