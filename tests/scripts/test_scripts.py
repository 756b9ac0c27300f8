"""The project's own scripts and pages: a check whose tool is missing fails, steps are counted and remembered, a ring
leaves out the tests of a larger one, the table of figures is written between its markers, promises name their tests,
the page of limits names their settings, links lead somewhere, a program that is not hardened is found out, and the
simulator's planted faults can still be planted."""
import contextlib
import importlib.machinery
import io
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench/lib"))

import readme
import wire

FIGURES = [readme.Figure("gets", "no agent", "64", "2/s", "1/s", "2x"), readme.Figure("a task on disk", "echo", "", "9 bytes")]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-scripts-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_script(self, *command, **how):
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              **how)


class MissingTools(Case):
    def path_without(self, tool):
        """Returns a PATH with all commands of the system except this one."""
        tools = self.folder / "bin"
        tools.mkdir()
        for place in ("/usr/bin", "/bin"):
            for command in pathlib.Path(place).iterdir():
                if command.name != tool and not (tools / command.name).exists():
                    (tools / command.name).symlink_to(command)
        return str(tools)

    def check_without(self, tool, *arguments):
        done = self.run_script("scripts/check", *arguments, env={**os.environ, "PATH": self.path_without(tool)})
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"{tool} is missing", done.stdout)
        self.assertTrue(done.stdout.endswith("0 passed, 1 failed\n"), done.stdout)

    def test_the_scripts_are_not_checked_without_shellcheck(self):
        self.check_without("shellcheck", "--only", "scripts")

    def test_the_format_is_not_checked_without_clang_format(self):
        self.check_without("clang-format-14", "--only", "format")

    def test_tidy_fails_without_clang_tidy(self):
        self.check_without("clang-tidy-14", "--tidy", "src/main.cpp")

    def test_scripts_test_installs_what_the_checks_need(self):
        listed = (ROOT / "scripts/packages").read_text(encoding="utf-8").split("[test]")[1].split("[")[0].split()
        for package in ("shellcheck", "clang-tidy-14", "clang-format-14", "binutils"):
            self.assertIn(package, listed)


class Steps(Case):
    """scripts/run_steps with fake steps."""

    def setUp(self):
        super().setUp()
        self.module = importlib.machinery.SourceFileLoader("run_steps", str(ROOT / "scripts/run_steps")).load_module()
        self.module.ROOT = self.folder
        (self.folder / "scripts").mkdir()
        for script in ("lib.sh", "what_failed"):
            shutil.copy(ROOT / "scripts" / script, self.folder / "scripts")

    def step(self, name, said, status=0, **how):
        return self.module.Step(name, ["bash", "-c", f"printf '%s' '{said}'; exit {status}"], **how)

    def run_ring(self, *steps, ring="whole", words=()):
        """Returns the exit status and the printed lines for a ring of these steps."""
        self.module.whole = self.module.everything = lambda: list(steps)
        said = io.StringIO()
        arguments, sys.argv = sys.argv, ["run_steps", ring, *words]
        try:
            with contextlib.redirect_stdout(said):
                status = self.module.main()
        finally:
            sys.argv = arguments
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        return status, said.getvalue().splitlines()

    def test_tests_and_checks_are_counted_apart(self):
        status, lines = self.run_ring(self.step("contract", "5 passed, 0 failed\n"),
                                      self.step("format", "3 passed, 0 failed\n", kind="checks"))
        self.assertEqual(status, 0, lines)
        self.assertEqual(lines[-2:], ["tests: 5 passed, 0 failed; checks: 3 passed, 0 failed", "8 passed, 0 failed"])

    def test_a_step_that_runs_no_test_is_a_failure(self):
        status, lines = self.run_ring(self.step("nothing", "all is well\n"))
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))

    def test_a_step_that_ends_badly_without_a_failed_test_is_a_failure(self):
        status, lines = self.run_ring(self.step("broken", "5 passed, 0 failed\n", status=139))
        self.assertEqual((status, lines[-1]), (1, "5 passed, 1 failed"))
        self.assertIn("-- broken (exit status 139)", lines)

    def test_a_step_that_hangs_is_ended_and_a_failure(self):
        status, lines = self.run_ring(self.module.Step("slow", ["sleep", "1000"], bound=1))
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))
        self.assertIn("-- slow (took more than 1 s)", lines)

    def test_a_batch_of_seeds_is_one_test_and_says_its_size(self):
        status, lines = self.run_ring(self.step("simulation", "3500 passed, 0 failed\n", seeds=True))
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed"))
        self.assertIn("(3500 seeds)", lines[0])

    def test_the_list_of_steps_shows_only_those_with_one_of_the_words(self):
        steps = [self.step(name, "") for name in ("asan unit", "planted faults", "simulation of nodes")]
        self.assertEqual(self.run_ring(*steps, ring="all", words=("--list", "simulation of", "planted")),
                         (0, ["planted faults", "simulation of nodes"]))

    def test_a_step_waits_for_those_that_it_comes_after(self):
        mark = self.folder / "mark"
        first = self.module.Step("first", ["bash", "-c", f"sleep 0.2; touch {mark}; echo 1 passed, 0 failed"], weight=1)
        then = self.module.Step("then", ["bash", "-c", f"test -e {mark} && echo 1 passed, 0 failed"], weight=99, after=("first",))
        self.assertEqual(self.run_ring(then, first)[0], 0)

    def test_everything_remembers_what_passed_for_a_commit_and_says_what_is_missing(self):
        for words in (["init", "--quiet"], ["add", "scripts"],
                      ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "--quiet", "--message", "Begin"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)
        good, bad = self.step("good", "1 passed, 0 failed\n"), self.step("bad", "0 passed, 1 failed\n", status=1)
        status, lines = self.run_ring(good, bad, ring="all")
        self.assertEqual(status, 1)
        self.assertIn("   missing: bad", lines)
        self.assertNotIn("   missing: good", lines)
        status, lines = self.run_ring(good, self.step("bad", "2 passed, 0 failed\n"), ring="all")
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed"), "what has passed is not run again")
        self.assertEqual(self.run_ring(good, bad, ring="all", words=["--missing"])[0], 0)
        status, lines = self.run_ring(good, bad, ring="all")
        self.assertEqual((status, lines[-1]), (0, "3 passed, 0 failed"), "nothing is left to be run")
        (self.folder / "scripts/lib.sh").write_text("changed", encoding="ascii")
        self.assertEqual(self.run_ring(good, bad, ring="all", words=["--missing"])[0], 1, "changes are another state")


class UnitTests(Case):
    """scripts/run_unit_tests with fake programs."""

    def run_programs(self, **programs):
        for name, (good, bad, status) in programs.items():
            (self.folder / "tests/unit" / name).mkdir(parents=True)
            program = self.folder / f"build/dev/tests/baton_{name}_tests"
            program.parent.mkdir(parents=True, exist_ok=True)
            summary = f"[doctest] test cases: {good + bad} | {good} passed | {bad} failed | 0 skipped"
            program.write_text(f"#!/bin/sh\n{f'echo {summary!r}' if good + bad else ''}\nexit {status}\n", encoding="ascii")
            program.chmod(0o755)
        (self.folder / "scripts").mkdir()
        for script in ("lib.sh", "run_unit_tests"):
            shutil.copy(ROOT / "scripts" / script, self.folder / "scripts")
        done = self.run_script(str(self.folder / "scripts/run_unit_tests"), "dev")
        return done.returncode, done.stdout.splitlines()[-1]

    def test_the_counts_of_all_folders_are_added_up(self):
        self.assertEqual(self.run_programs(base=(3, 0, 0), task=(4, 0, 0)), (0, "7 passed, 0 failed"))

    def test_a_failed_test_of_any_folder_fails(self):
        self.assertEqual(self.run_programs(base=(2, 1, 1), task=(4, 0, 0)), (1, "6 passed, 1 failed"))

    def test_a_program_that_dies_or_has_no_tests_is_a_failure(self):
        self.assertEqual(self.run_programs(base=(0, 0, 0), net=(2, 0, 139), task=(4, 0, 0)), (1, "6 passed, 2 failed"))

    def test_a_folder_without_its_program_is_a_failure(self):
        (self.folder / "tests/unit/wire").mkdir(parents=True)
        self.assertEqual(self.run_programs(task=(4, 0, 0)), (1, "4 passed, 1 failed"))


class Rings(Case):
    """scripts/run_python_tests with fake files."""

    def run_files(self, *arguments, ring, **files):
        for name, tests in files.items():
            (self.folder / f"test_{name}.py").write_text("import unittest\nimport rings\n\n" + tests, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if name != "BATON_RING"} | ring
        done = self.run_script(sys.executable, "scripts/run_python_tests", str(self.folder), *arguments, env=environment)
        return done.returncode, done.stdout

    SOME = ("class Values(unittest.TestCase):\n"
            "    def test_one(self):\n        pass\n\n"
            "    @rings.everything('asserted in unit/values_test.cpp')\n"
            "    def test_two(self):\n        self.fail('it ran')\n")
    NONE = ("@rings.everything('asserted in unit/values_test.cpp')\n"
            "class Cases(unittest.TestCase):\n"
            "    @classmethod\n    def setUpClass(cls):\n        raise AssertionError('it was set up')\n\n"
            "    def test_one(self):\n        pass\n")
    DERIVED = NONE + ("\n\nclass Derived(Cases):\n"
                      "    @classmethod\n    def setUpClass(cls):\n        pass\n")

    def test_the_whole_leaves_out_marked_tests_and_classes_but_not_classes_derived_from_those(self):
        for how in ([], ["-j", "2"]):
            with self.subTest(how):
                status, said = self.run_files(*how, ring={"BATON_RING": "whole"}, some=self.SOME, derived=self.DERIVED)
                self.assertEqual((status, said.splitlines()[-1]), (0, "2 passed, 0 failed"), said)
                self.assertIn('left to the ring "everything"', said)

    def test_without_a_ring_every_test_runs(self):
        for how in ([], ["-j", "2"]):
            with self.subTest(how):
                status, said = self.run_files(*how, ring={}, some=self.SOME)
                self.assertEqual((status, said.splitlines()[-1]), (1, "1 passed, 1 failed"), said)

    def test_to_leave_out_every_test_is_no_failure_but_to_have_none_is(self):
        for how in ([], ["-j", "2"]):
            with self.subTest(how):
                status, said = self.run_files(*how, ring={"BATON_RING": "whole"}, none=self.NONE)
                self.assertEqual((status, said.splitlines()[-1]), (0, "0 passed, 0 failed"), said)
                status, said = self.run_files(*how, "-k", "unheard of", ring={"BATON_RING": "whole"})
                self.assertEqual((status, said.splitlines()[-1]), (1, "0 passed, 0 failed"), said)

    def test_pairs_are_neighbours_both_ways_in_the_whole_and_all_without_a_ring(self):
        for ring, expected in (({"BATON_RING": "whole"}, ["ab", "ad", "ba", "bc", "cb", "cd", "da", "dc"]),
                               ({}, [a + b for a in "abcd" for b in "abcd"])):
            with self.subTest(ring):
                status, said = self.run_files(ring=ring, pairs=(
                    "class Pairs(unittest.TestCase):\n    def test_them(self):\n"
                    f"        self.assertEqual([a + b for a, b in rings.pairs('abcd')], {expected})\n"))
                self.assertEqual(status, 0, said)


class VersionsTable(Case):
    """scripts/versions_table with fake reports."""

    def agrees(self, page, *, ring, **reported):
        """Returns whether it accepts the page after these operations ran in 0.3 over JSON-RPC, each passed or not."""
        loaded = importlib.machinery.SourceFileLoader("versions_table", str(ROOT / "scripts/versions_table")).load_module()
        loaded.rings.WHOLE = ring == "whole"
        self.addCleanup(setattr, loaded.rings, "WHOLE", False)
        ran = [{"sdk": "0.3", "protocol": "0.3", "transport": "JSONRPC", "operation": name.replace("_", " "), "passed": good}
               for name, outcomes in reported.items() for good in outcomes]
        table = loaded.table_of(ran, {"0.1 JSON-RPC": "rfwacb"})
        return table if page is None else loaded.agrees(table, page)

    def test_with_every_client_the_page_has_the_very_table_with_a_ring_what_ran_must_be_there(self):
        page = self.agrees(None, ring="", cancel=[True, True], streaming=[True])
        self.assertIn("| 3 of 3 |", page)
        for ring, same in (("", False), ("whole", True)):
            with self.subTest(ring):
                self.assertTrue(self.agrees(page, ring=ring, cancel=[True, True], streaming=[True]))
                self.assertEqual(self.agrees(page, ring=ring, cancel=[True]), same)
                self.assertFalse(self.agrees(page, ring=ring, cancel=[True, False]), "one failed")
                self.assertFalse(self.agrees(page, ring=ring, cancel=[True], extended_card=[True]), "the page says less")
                self.assertFalse(self.agrees(page, ring=ring), "nothing ran over 0.3")

    def test_a_failed_case_that_no_row_shows_fails_too(self):
        page = self.agrees(None, ring="", cancel=[True], other=[True])
        self.assertFalse(self.agrees(page, ring="whole", cancel=[True], other=[False]))


class Way(Case):
    """What scripts/count_path says of functions that were entered, and that src/WAY.md names functions that exist."""

    def setUp(self):
        super().setUp()
        self.path = importlib.machinery.SourceFileLoader("count_path", str(ROOT / "scripts/count_path")).load_module()

    def run_way(self, *entered):
        """Its exit status and its output, if these functions were entered in this order."""
        page = "1. `base/id.cpp:id`, then\n2. `base/log.cpp:Log::write`.\n"
        self.path.measured = lambda folder: [("echo", "tasks/send", (500, 5000, 40), [], ["engine"], list(entered))]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), unittest.mock.patch.object(pathlib.Path, "read_text", return_value=page):
            status = self.path.main(["--no-build", "--way"])
        return status, output.getvalue()

    def test_functions_entered_in_the_order_of_the_page_pass_whatever_the_figures(self):
        status, output = self.run_way(
            ("base/id.cpp", 1, "baton::base::id()"), ("base/text.cpp", 3, "x()"), ("base/log.cpp", 2, "baton::base::Log::write(int)"))
        self.assertEqual(status, 0, output)
        self.assertTrue(output.endswith("\n2 passed, 0 failed\n"), output)
        self.assertIn("since the release +369, +4088, +35", output)

    def test_a_function_that_is_not_entered_or_too_early_fails_by_name(self):
        for entered, problem in (
                ([("base/id.cpp", 1, "id()")], "base/log.cpp:Log::write is not entered"),
                ([("base/log.cpp", 2, "Log::write(int)"), ("base/id.cpp", 1, "id()")],
                 "base/log.cpp:Log::write is entered before the function that the page names before it")):
            status, output = self.run_way(*entered)
            self.assertEqual(status, 1, output)
            self.assertIn(problem, output)
            self.assertTrue(output.endswith("\n1 passed, 1 failed\n"), output)

    def test_every_function_that_the_page_names_is_in_its_file(self):
        page = (ROOT / "src/WAY.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(page.splitlines()), 120)
        named = self.path.NAMED.findall(page)
        self.assertGreater(len(named), 20)
        for file, name in named:
            with self.subTest(file=file, name=name):
                text = (ROOT / "src" / file).read_text(encoding="utf-8")
                self.assertRegex(text, rf"\b{re.escape(name.split('::')[-1])}\(")


class Table(Case):
    def test_the_table_replaces_what_stands_between_the_markers(self):
        text = f"before\n{readme.BEGIN}old\n{readme.END}after\n"
        written = readme.replaced(text, ["2 cores"], FIGURES)
        self.assertTrue(written.startswith(f"before\n{readme.BEGIN}\n- 2 cores\n\n| what | what ran | connections |"))
        self.assertIn("| gets | no agent | 64 | 2/s | 1/s | 2x |\n| a task on disk | echo |  | 9 bytes |  |  |\n", written)
        self.assertTrue(written.endswith(f"\n{readme.END}after\n"))
        self.assertNotIn("old", written)
        self.assertEqual(readme.replaced(written, ["2 cores"], FIGURES), written)

    def test_a_page_without_its_markers_is_an_error(self):
        for text in ("", readme.BEGIN, readme.END + readme.BEGIN, readme.BEGIN + readme.END + readme.BEGIN + readme.END):
            with self.assertRaises(ValueError):
                readme.replaced(text, [], FIGURES)

    def test_the_page_has_the_markers_and_says_for_each_row_what_ran(self):
        text = (ROOT / "scripts/SIZING.md").read_text(encoding="utf-8")
        self.assertNotEqual(readme.replaced(text, [], FIGURES), text)
        between = text.split(readme.BEGIN)[1].split(readme.END)[0]
        rows = [line for line in between.splitlines() if line.startswith("| ")]
        self.assertEqual([cell.strip() for cell in rows[0].strip("|").split("|")], [head.strip() for head in readme.HEAD])
        for row in rows[1:]:
            self.assertTrue(row.split("|")[2].strip(), f"nothing says what ran: {row}")

    def test_figures_of_a_part_or_of_a_quick_run_do_not_get_into_the_page(self):
        for option in ("--quick", "--only=get"):
            done = self.run_script(sys.executable, "-B", "tests/bench/run.py", "--readme", option)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("--readme needs all measurements", done.stdout)


class Wire(Case):
    def test_statements_are_counted_however_their_bytes_come_but_not_what_begins_and_ends_transactions(self):
        def message(kind, body):
            return kind + struct.pack("!i", len(body) + 4) + body
        prepared = [message(b"P", b"one\0SELECT 1\0\0\0"), message(b"P", b"begin\0BEGIN READ ONLY\0\0\0")]
        runs = [message(b"B", b"\0" + name + b"\0\0\0\0\0\0\0") + message(b"E", b"\0\0\0\0\0")
                for name in (b"begin", b"one", b"one")]
        told = message(b"", b"\0\3\0\0user\0me\0\0") + b"".join(prepared + runs) + message(b"Q", b"SELECT 2\0")
        for size in (1, 7, len(told)):
            requests = wire.Requests()
            for first in range(0, len(told), size):
                requests.take(told[first:first + size])
            self.assertEqual(requests.asked, {b"SELECT 1": 2, b"SELECT 2": 1})


class Promises(Case):
    def test_the_page_makes_ten_promises_and_names_tests_for_each(self):
        text = (ROOT / "schema/PROMISES.md").read_text(encoding="utf-8")
        section = text.split("## The promises\n")[1].split("\n## ")[0]
        promises = re.split(r"(?m)^\d+\. ", section)[1:]
        self.assertEqual(len(promises), 10)
        for promise in promises:
            tests = re.findall(r"tests/[\w/]+\.(?:py|cpp)", promise)
            self.assertTrue(tests, f"no test: {promise}")
            for test in tests:
                self.assertTrue((ROOT / test).is_file(), f"there is no {test}")


class Limits(Case):
    def test_the_page_names_every_setting_of_a_limit_and_no_other(self):
        schema = json.loads((ROOT / "schema/config.schema.json").read_text(encoding="utf-8"))["properties"]
        settings = {f"{section}.{name}" for section, value in schema.items() for name in value.get("properties", {})}
        self.assertIn("http.body_max", settings)
        text = (ROOT / "scripts/LIMITS.md").read_text(encoding="utf-8")
        named = {name for name in re.findall(r"`([a-z0-9_]+\.[a-z0-9_]+)`", text) if name.split(".")[0] in schema}
        self.assertEqual(named - settings, set())
        self.assertEqual({name for name in settings if re.search(r"_max(_s)?$", name)} - named, set())


class Threats(Case):
    def test_each_row_of_the_page_names_a_test_and_every_named_file_exists(self):
        text = (ROOT / "scripts/THREATS.md").read_text(encoding="utf-8")
        rows = [line for line in text.splitlines() if re.match(r"\| (?!.* \| held by \|)[^-]", line)]
        self.assertGreater(len(rows), 20)
        targets = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/fuzz/targets").glob("*.cpp"))
        for row in rows:
            shown = row.rstrip("| ").rpartition(" | ")[2]
            tests = re.findall(r"`([\w/.]+\.(?:py|cpp|mjs))`", shown)
            fuzzed = re.findall(r"`([\w*.-]+)`", shown.partition("fuzz target")[2])
            self.assertTrue(tests or fuzzed, f"no test: {row}")
            for test in tests:
                self.assertTrue((ROOT / "tests" / test).is_file(), f"there is no {test}")
            for test, names in re.findall(r"`([\w/.]+\.py)` \(([^)]*)\)", shown):
                source = (ROOT / "tests" / test).read_text(encoding="utf-8")
                for name in re.findall(r"`(\w+)`", names):
                    self.assertRegex(source, rf"(?m)^(?:class| +def) {name}\b", f"{test} has no {name}")
            for target in fuzzed:
                self.assertIn('{"' + target.rstrip("*"), targets, f"there is no target {target}")
        for name in re.findall(r"`((?:agents|base|engine|http|json|notify|outbound|protocol|server|store|task)/[\w/.]+)`", text):
            self.assertTrue(list(ROOT.glob(f"src/{name}*")), f"there is no src/{name}")


def anchors_of(text):
    """Returns the anchors of a page's headings, in the form of GitHub and others."""
    anchors = set()
    for heading in re.findall(r"(?m)^#{1,6} +(.*?)\s*$", text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        anchors.add(name if name not in anchors else next(f"{name}-{n}" for n in range(1, 99) if f"{name}-{n}" not in anchors))
    return anchors


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^ *(`{3,}).*?^ *\1$", "", text))


class Links(Case):
    def pages(self):
        known = self.run_script("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md").stdout.split()
        found = [pathlib.Path(name) for name in known] or [
            path.relative_to(ROOT) for path in ROOT.rglob("*.md") if not {"node_modules", "build"} & set(path.parts)]
        return {page: (ROOT / page).read_text(encoding="utf-8") for page in found if (ROOT / page).is_file()}

    def test_each_relative_link_leads_to_a_file_and_each_anchor_to_a_heading(self):
        pages = self.pages()
        self.assertIn(pathlib.Path("scripts/README.md"), pages)
        for page, text in pages.items():
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
                if re.match(r"\w+:", target):
                    continue
                name, _, anchor = target.partition("#")
                path = pathlib.Path(os.path.normpath(page.parent / name)) if name else page
                with self.subTest(page=str(page), link=target):
                    self.assertTrue((ROOT / path).exists(), f"there is no {path}")
                    if anchor:
                        self.assertIn(anchor, anchors_of(re.sub(r"(?ms)^```.*?^```$", "", pages[path])))

    def test_anchors_are_made_of_headings_as_github_does(self):
        text = "# A, b!\n## `grpc/`: the *messages*\n## Same\n## Same\n## See [x](y.md)\n"
        self.assertEqual(anchors_of(text), {"a-b", "grpc-the-messages", "same", "same-1", "see-x"})

    def test_the_top_level_has_what_belongs_there(self):
        listed = subprocess.run(["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                                check=False).stdout.split()
        names = set(listed or os.listdir(ROOT)) - {".git", "build"}
        self.assertEqual(names, {"CMakeLists.txt", "src", "schema", "agent-cards", "tests", "scripts", "README.md", "CHANGELOG.md",
                                 "CMakePresets.json", "cmake", ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore",
                                 ".npmrc"})

    def test_pages_for_users_have_lines_of_120_and_those_for_authors_250_of_them(self):
        for page, text in self.pages().items():
            lines = text.splitlines()
            if page.parts[0] == "src":
                continue
            with self.subTest(page=str(page)):
                self.assertEqual([line for line in lines if len(line) > 120 and not line.startswith("|")], [])
                if page.parts[0] == "agent-cards":
                    self.assertLessEqual(len(lines), 250)

    def test_the_readme_is_short(self):
        lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), 150)
        self.assertLessEqual(max(len(line) for line in lines), 120)


class Hardening(Case):
    def test_a_hardened_program_passes_and_fails_without_any_one_of_its_flags(self):
        source = self.folder / "many.c"
        functions = "".join(f"int f{n}(const char *text) {{ char copy[64]; return sprintf(copy, text, {n}) + puts(copy); }}\n"
                            for n in range(150))
        source.write_text(f"#include <stdio.h>\n{functions}int main(void) {{ return 0; }}\n", encoding="ascii")
        flags = {"position-independent": ("-fPIE -pie", "-no-pie"),
                 "GNU_RELRO": ("-Wl,-z,relro", "-Wl,-z,norelro"),
                 "symbols bound at start": ("-Wl,-z,now", "-Wl,-z,lazy"),
                 "stack not executable": ("-Wl,-z,noexecstack", "-Wl,-z,execstack"),
                 "stack protector": ("-fstack-protector-strong", "-fno-stack-protector"),
                 "_FORTIFY_SOURCE": ("-D_FORTIFY_SOURCE=2", "-U_FORTIFY_SOURCE")}
        if "x86_64" in os.uname().machine:
            flags["indirect branch targets"] = ("-fcf-protection", "-fcf-protection=none")
        for without in (None, *flags):
            with self.subTest(without=without):
                program = self.folder / "many"
                chosen = " ".join(good if what != without else bad for what, (good, bad) in flags.items())
                subprocess.run(["gcc", "-O1", "-w", "-U_FORTIFY_SOURCE", *chosen.split(), "-o", program, source], check=True,
                               stderr=subprocess.DEVNULL)
                done = self.run_script("scripts/check_hardening", str(program))
                missing = re.findall(r"not so: (.*)", done.stdout)
                self.assertEqual(missing, [without] if without else [], done.stdout)

    def test_a_program_that_is_not_hardened_is_found_out(self):
        source = self.folder / "plain.c"
        source.write_text("int main(void) { return 0; }\n", encoding="ascii")
        program = self.folder / "plain"
        subprocess.run(["gcc", "-no-pie", "-fno-stack-protector", "-fcf-protection=none", "-Wl,-z,norelro,-z,lazy,-z,execstack",
                        "-o", program, source], check=True, stderr=subprocess.DEVNULL)
        done = self.run_script("scripts/check_hardening", str(program))
        self.assertEqual(done.returncode, 1, done.stdout)
        total = len(re.findall("not so:", done.stdout))
        self.assertTrue(done.stdout.endswith(f"0 passed, {total} failed\n"), done.stdout)


class Packages(Case):
    """need_stopped of scripts/lib.sh, with fakes of apt-get and sudo."""

    def setUp(self):
        super().setUp()
        self.policy, self.clusters = self.folder / "policy-rc.d", self.folder / "createcluster.conf"
        self.clusters.write_text("#create_main_cluster = true\n", encoding="ascii")
        self.tools = self.folder / "bin"
        self.tools.mkdir()
        self.seen = self.folder / "seen"
        self.tool("sudo", 'exec "$@"')
        self.tool("dpkg-query", "true")
        self.tool("apt-get", f"if [ \"$1\" = install ]; then sh {self.policy} start; echo \"$? $(tail -n 1 {self.clusters}) $*\""
                             f' >>{self.seen}; fi')

    def tool(self, name, text):
        (self.tools / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        (self.tools / name).chmod(0o755)

    def install(self):
        variables = {"PATH": f"{self.tools}:{os.environ['PATH']}", "policy_rc": str(self.policy),
                     "createcluster_conf": str(self.clusters)}
        done = self.run_script("bash", "-c", "set -euo pipefail; . scripts/lib.sh; need_stopped postgres",
                               env={**os.environ, **variables})
        self.assertEqual(self.clusters.read_text(encoding="ascii"), "#create_main_cluster = true\n")
        return done.returncode

    def test_no_service_starts_and_no_cluster_is_made_while_packages_are_installed(self):
        self.assertEqual(self.install(), 0)
        first, second = self.seen.read_text(encoding="ascii").splitlines()
        self.assertTrue(first.startswith("101 #") and first.endswith(" postgresql-common"), first)
        self.assertTrue(second.startswith("101 create_main_cluster = false ") and " postgresql-15" in second, second)
        self.assertFalse(self.policy.exists())

    def test_a_policy_that_was_there_is_there_again_also_after_a_failure(self):
        self.policy.write_text("exit 104\n", encoding="ascii")
        self.tool("apt-get", '[ "$1" != install ]')
        self.assertNotEqual(self.install(), 0)
        self.assertEqual(self.policy.read_text(encoding="ascii"), "exit 104\n")


class Cluster(Case):
    """scripts/with_postgres cleans up after itself."""

    def begin(self, *command):
        return subprocess.Popen([ROOT / "scripts/with_postgres", "--fast", *command], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                env={**os.environ, "TMPDIR": str(self.folder)})

    def assert_nothing_left(self):
        self.assertEqual(list(self.folder.iterdir()), [])
        left = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True, check=False).stdout
        self.assertEqual(left, "")

    def test_the_command_may_make_databases_and_its_status_is_passed_on(self):
        self.folder.chmod(0o755)  # for the cluster's own user
        process = self.begin("sh", "-c", 'psql "$BATON_TEST_POSTGRES" -c "CREATE DATABASE other"; exit 7')
        said, _ = process.communicate(timeout=120)
        self.assertEqual((process.returncode, said), (7, "CREATE DATABASE\n"))
        self.assert_nothing_left()

    def test_a_signal_ends_the_command_and_the_cluster(self):
        self.folder.chmod(0o755)
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            with self.subTest(signal=number):
                process = self.begin("sh", "-c", "echo ready; exec sleep 100")
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, status)
                self.assert_nothing_left()


class PlantedFaults(Case):
    def test_planted_faults_each_fit_the_sources_they_change(self):
        script = "tests/simulation/mutants.py"
        names = self.run_script(sys.executable, script, "--list").stdout.split()
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            planted = self.run_script(sys.executable, script, name, "src", str(self.folder / name))
            self.assertEqual(planted.returncode, 0, planted.stdout)


if __name__ == "__main__":
    unittest.main()
