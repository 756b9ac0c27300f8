"""The context of every suite: paths, durations of measurements, and a place for the results."""
import dataclasses
import pathlib
import sys
import time

from readme import Figure


@dataclasses.dataclass
class Places:
    root: pathlib.Path   # of the project
    build: pathlib.Path  # of the release
    work: pathlib.Path   # files of this run, on a disk
    load: "Places | None" = None  # whose programs make the load on this project's servers, if not its own

    @property
    def bench(self):
        return self.root / "tests/bench"

    @property
    def baton(self):
        return self.build / "baton"

    @property
    def slow_flush(self):
        return self.program("libbaton_slow_flush.so")

    def program(self, name):
        return self.build / "tests/bench" / name


@dataclasses.dataclass
class Target:
    """A row of the table of targets."""
    what: str
    wanted: str
    found: str
    is_met: bool


@dataclasses.dataclass
class Context:
    places: Places
    rounds: int
    seconds: int
    quick: bool
    flush_delays_ms: list[float]
    nodes: int = 3  # nodes that share a database
    other: Places | None = None  # another checkout, whose servers `pairs` measures next to this one's
    sections: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    targets: list[Target] = dataclasses.field(default_factory=list)
    figures: list[Figure] = dataclasses.field(default_factory=list)  # of scripts/SIZING.md
    # Medians of earlier suites of this run that later ones compare with.
    known: dict[str, float] = dataclasses.field(default_factory=dict)
    began: float = dataclasses.field(default_factory=time.monotonic)

    def scaled(self, full, quick):
        return quick if self.quick else full

    def section(self, title, *paragraphs):
        self.sections.append((title, "\n\n".join(paragraph for paragraph in paragraphs if paragraph)))

    def target(self, what, wanted, found, is_met):
        self.targets.append(Target(what, wanted, found, bool(is_met)))

    def figure(self, what, ran, connections, baton, sdk="", ratio=""):
        """A row of the table in scripts/SIZING.md."""
        self.figures.append(Figure(what, ran, str(connections), baton, sdk, ratio))

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.0f} s  {text}", file=sys.stderr, flush=True)
