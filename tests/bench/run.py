"""Measures Baton next to the servers of the official JavaScript SDKs and next to what the machine can do at most, and
writes a page about it. scripts/bench builds what it needs and starts it."""
import argparse
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "lib"), str(HERE)]
sys.path.append(str(HERE.parent / "e2e"))  # for the collector

import machine
import readme
import samples
from context import Context, Places
from suites import (command, crowds, hop, models, node_deaths, node_events, node_streams, nodes, pairs, peers, plan,
                    postgres, purge, sizes, stored, throughput, tools, traces)


SUITES = {
    **{name: (lambda context, name=name: throughput.run(context, name)) for name in throughput.CASES},
    "tool-call": tools.run,
    "completions": models.run_completions,
    "slow-disk": throughput.run_slow_disk,
    "idle": crowds.run_idle,
    "waiting": crowds.run_waiting,
    "megabyte": sizes.run_megabyte,
    "chunks": sizes.run_chunks,
    "history": sizes.run_history,
    "disk": stored.run_disk,
    "start": stored.run_start,
    "purge": purge.run,
    "command": command.run,
    "hop": hop.run,
    "models": models.run,
    "plan": plan.run,
    "traces": traces.run,
}
ON_POSTGRES = {"postgres": postgres.run, "peers": peers.run, "nodes": nodes.run, "node-events": node_events.run,
               "node-deaths": node_deaths.run, "node-streams": node_streams.run}


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--store", choices=("postgres",), help="measure on that store instead, in a cluster of its own")
    parser.add_argument("--nodes", type=int, default=3, metavar="N",
                        help="with --store postgres: how many Batons share a database where several do (3)")
    parser.add_argument("--against", type=pathlib.Path, metavar="FOLDER",
                        help="measure next to another checkout instead, in which `scripts/bench --quick` has run")
    parser.add_argument("--rounds", type=int, help="rounds of each measurement (3; with --against 9)")
    parser.add_argument("--seconds", type=int, help="seconds of each measurement (2)")
    parser.add_argument("--only", action="append", choices=[*SUITES, *ON_POSTGRES], metavar="NAME",
                        help=f"only this; may be given more than once: {', '.join(SUITES)}; with --store postgres: "
                             f"{', '.join(ON_POSTGRES)}")
    parser.add_argument("--flush-delay-ms", default="1,5", metavar="MS[,MS]...",
                        help="for slow-disk: how much longer each flush takes (1,5)")
    parser.add_argument("--out", type=pathlib.Path, help="where the page goes (standard output)")
    parser.add_argument("--quick", action="store_true", help="small and short: shows that everything works, no more")
    parser.add_argument("--readme", action="store_true",
                        help="put the figures into scripts/SIZING.md, between its two markers; needs a whole run")
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build/release", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not set(given.only or ()) <= set(ON_POSTGRES if given.store else SUITES):
        parser.error(f"with --store postgres, and only with it: {', '.join(ON_POSTGRES)}")
    if given.readme and (given.only or given.store or given.quick):
        parser.error("--readme needs all measurements, and none of them --quick")
    if given.against and (given.only or given.store or given.readme):
        parser.error("--against measures rows of its own: without --only, --store and --readme")
    given.rounds = given.rounds or (1 if given.quick else 9 if given.against else 3)
    given.seconds = given.seconds or (1 if given.quick else 2)
    return given


def page_of(context, facts, broken):
    lines = ["# Baton, measured", "", *(f"- {fact}" for fact in facts),
             f"- medians of {context.rounds} rounds of {context.seconds} s, server after server in each round; ± is "
             "half of what lies between the least and the most; loopback; every send has a message id of its own; "
             "Baton with its default settings, every event flushed to the disk before it is seen; the SDKs' servers "
             "keep their tasks in memory; memory, threads and CPU are the server's own process, without agents that "
             "are processes"]
    if context.quick:
        lines.append("- **a quick run: these figures say nothing**")
    if context.targets:
        rows = [[target.what, target.wanted, target.found, "yes" if target.is_met else "**no**"]
                for target in context.targets]
        lines += ["", "## Targets", "", samples.table(["figure", "target", "measured", "met"], rows)]
    for title, text in context.sections:
        lines += ["", f"## {title}", "", text]
    lines += [line for name, error in broken for line in ("", f"**{name} could not be measured: {error}**")]
    return "\n".join(lines) + "\n"


def main():
    given = read_arguments()
    given.build.mkdir(parents=True, exist_ok=True)
    # Below the build folder, because /tmp may be in memory.
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=given.build))
    delays = [float(delay) for delay in given.flush_delay_ms.split(",") if delay]
    context = Context(Places(HERE.parents[1], given.build.resolve(), work), given.rounds, given.seconds, given.quick,
                      delays, given.nodes)
    suites = ON_POSTGRES if given.store else SUITES
    if given.against:
        root = given.against.resolve()
        context.other = Places(root, root / "build/release", work, load=context.places)
        suites = {"pairs": pairs.run}
    facts = machine.facts(context.places)
    broken = []

    def write_page():
        if given.out:
            given.out.write_text(page_of(context, facts, broken), encoding="utf-8")

    try:
        for name, suite in suites.items():
            if given.only and name not in given.only:
                continue
            try:
                suite(context)
            except Exception as error:  # continues with the other suites
                context.say(f"{name} FAILED: {error!r}")
                broken.append((name, error))
            write_page()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if given.readme and not broken:
        readme.write(context.places.root / "scripts/SIZING.md", facts, context.figures)
    if not given.out:
        print(page_of(context, facts, broken))
    return 1 if broken else 0


sys.exit(main())
