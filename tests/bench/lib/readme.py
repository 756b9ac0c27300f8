"""The table of figures of scripts/README.md: what the suites found, between two markers."""
import dataclasses
import pathlib

from samples import table

BEGIN, END = "<!-- made by scripts/bench -->\n", "<!-- end of the figures -->\n"
HEAD = ["what", "what ran", "connections", "Baton", "JS SDK 1.3.0", ""]


@dataclasses.dataclass
class Figure:
    """A row. `ran`: which agent answered, or what else was at work; empty cells are shown empty."""
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
    return "\n".join(["", *(f"- {fact}" for fact in facts), "", table(HEAD, [figure.cells() for figure in figures]),
                      "", ""])


def replaced(page, facts, figures):
    """The page with these figures. ValueError if it has not each marker once, in order."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise ValueError(f"scripts/README.md must have one line {BEGIN.strip()} and, after it, one {END.strip()}")
    return before + BEGIN + text_of(facts, figures) + END + after


def write(path, facts, figures):
    path = pathlib.Path(path)
    path.write_text(replaced(path.read_text(encoding="utf-8"), facts, figures), encoding="utf-8")
