"""The table of figures of scripts/SIZING.md: what the suites found, between two markers."""
import dataclasses
import pathlib
import textwrap

from samples import table

BEGIN, END = "<!-- made by scripts/bench -->\n", "<!-- end of the figures -->\n"
HEAD = ["what", "what ran", "connections", "Baton", "JS SDK 1.3.0", ""]


@dataclasses.dataclass
class Figure:
    """A row. `ran` names the agent that answered, or the other load; empty cells are shown empty."""
    what: str
    ran: str
    connections: str
    baton: str
    sdk: str = ""
    ratio: str = ""

    def cells(self):
        return [self.what, self.ran, self.connections, self.baton, self.sdk, self.ratio]


def text_of(facts, figures):
    """What stands between the markers."""
    lines = [textwrap.fill(f"- {fact}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
             for fact in facts]
    return "\n".join(["", *lines, "", table(HEAD, [figure.cells() for figure in figures]),
                      "", ""])


def replaced(page, facts, figures):
    """Returns the page with these figures. Raises ValueError if it does not have each marker once, in order."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise ValueError(f"scripts/SIZING.md must have one line {BEGIN.strip()} and, after it, one {END.strip()}")
    return before + BEGIN + text_of(facts, figures) + END + after


def write(path, facts, figures):
    path = pathlib.Path(path)
    path.write_text(replaced(path.read_text(encoding="utf-8"), facts, figures), encoding="utf-8")
