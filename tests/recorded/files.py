"""The files of recorded answers: read, compared, written."""
import difflib
import os
import pathlib

from recorded import texts

FOLDER = pathlib.Path(__file__).resolve().parent / "answers"
RECORDS = os.environ.get("BATON_RECORD") == "1"
SHOWN_MAX = 300  # lines of a difference


ENVELOPE = '{"jsonrpc":"2.0","id":1,"result":'


def written(scenes, base=None):
    """The text of a file. What a block of a scene repeats is only named. Of a block whose JSON is that of the
    same one in the file `base`, alone or each as the result of JSON-RPC, the JSON is not repeated."""
    known = blocks_of(base) if base else {}
    out = []
    for title, blocks in scenes:
        out.append(f"## {title}\n")
        before, bodies = {}, {}
        for number, (head, text) in enumerate(blocks, 1):
            said = folded(text, known.get((title, number)), base)
            if said == text and len(text) > 60:
                line, _, body = text.partition("\n")
                if text in before:
                    said = f"(as # {before[text]})"
                elif len(body) > 60 and body in bodies:
                    said = f"{line}\n(body as # {bodies[body]})"
                before.setdefault(text, number)
                bodies.setdefault(body, number)
            out.append(f"# {number} {head}\n{said}\n")
    return "\n".join(out)


def folded(text, known, base):
    if not known:
        return text
    if text == known:
        return f"(all as in {base})"
    others, ids, found = texts.units(text)
    _, known_ids, expected = texts.units(known)
    if not found or ids not in ([], known_ids):
        return text
    without = ", without numbers" if ids != known_ids else ""
    if found == expected:
        said = f"(as in {base}{without})"
    elif found == [ENVELOPE + each + "}" for each in expected]:
        said = f"(results as in {base}{without})"
    else:
        return text
    return "\n".join([*(line for line in others if line), said])


def blocks_of(name):
    """{(scene, number): text} of a file."""
    path = FOLDER / f"{name}.txt"
    found, title, at = {}, "", None
    for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else ():
        if line.startswith("## "):
            title, at = line[3:], None
        elif line.startswith("# ") and line.split(" ")[1].isdigit():
            at = title, int(line.split(" ")[1])
            found[at] = []
        elif at:
            found[at].append(line)
    return {at: "\n".join(lines).rstrip("\n") for at, lines in found.items()}


def difference(name, scenes, base=None):
    """What differs from the file, as text; empty: nothing. Writes the file anew where that is asked for."""
    path = FOLDER / f"{name}.txt"
    now = written(scenes, base)
    if RECORDS:
        path.write_text(now, encoding="utf-8")
        return ""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if before == now:
        return ""
    then, lines = parts(before), []
    for head, text in parts(now).items():
        if then.get(head) != text:
            lines += [head, *list(difflib.unified_diff(then.get(head, []), text, lineterm="", n=2))[2:], ""]
    lines += [f"no longer there: {head}" for head in then if head not in parts(now)]
    more = [f"... and {len(lines) - SHOWN_MAX} lines more"] if len(lines) > SHOWN_MAX else []
    return "\n".join([f"{path.name}: - as recorded, + as answered", *lines[:SHOWN_MAX], *more,
                      "BATON_RECORD=1 writes the file anew."])


def parts(text):
    """{scene and head of a block: its lines}"""
    found, title, lines = {}, "", []
    for line in text.split("\n"):
        if line.startswith("## "):
            title, lines = line, []
        elif line.startswith("# ") and line.split(" ")[1].isdigit():
            lines = found.setdefault(f"{title} {line}", [])
        else:
            lines.append(line)
    return found
