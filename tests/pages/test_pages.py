"""Every command on the pages is run, page by page, in a clean folder and a network of its own (tests/README.md, "Pages").

BATON_PROGRAM names the program (default build/release/baton); BATON_TIME_SCALE stretches every bound on waiting."""
import dataclasses
import functools
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("BATON_PROGRAM", ROOT / "build/release/baton")).resolve()
WAIT_S = 60 * float(os.environ.get("BATON_TIME_SCALE", "1"))
PAGES = [str(path.relative_to(ROOT)) for pattern in
         ("README.md", "agent-cards/*.md", "schema/*.md", "scripts/*.md", "agent-cards/lib/*/README.md", "agent-cards/*/README.md")
         for path in sorted(ROOT.glob(pattern))]
# What a block may be besides sh and console: text, and examples of these.
EXAMPLES = {"text", "json", "python", "js", "ts", "html", "sql", "ini"}
COLUMNS, ROWS = 120, 40

# One bash runs all blocks of a page, so that variables and the folder are kept. Each line that it reads names a block's
# file. In the file the block is at the same line as in the page, so that LINENO is that line. After a block it prints a
# mark.
LOOP = r"""
exec 3<&0 </dev/null
set -o pipefail
report() { printf '\036%s %s %s\036\n' "$file" "$1" "$2"; }
while IFS=' ' read -r -u 3 kind file output; do
  if [[ $kind == server ]]; then
    setsid bash "$file" >"$output" 2>&1 3<&- &
    report 0 "$!"
  else
    at=0
    trap 'status=$? at=$LINENO; trap - ERR; return "$status"' ERR
    . "$file" 3<&-
    status=$?
    trap - ERR
    report "$status" "$at"
  fi
done
"""
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
if sys.argv[1] == "own":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
os.execvp(sys.argv[2], sys.argv[2:])
"""


@dataclasses.dataclass
class Block:
    line: int  # the number of its first line of content
    info: list
    text: str
    path: str = ""  # the file to write the block to
    follows: bool = False  # there is no text between the previous block and this one


def blocks_of(page):
    """Returns the fenced blocks of a page, in order."""
    blocks, paragraph, fence = [], [], None
    begun, previous = 0, ""
    for number, line in enumerate(page.splitlines(), start=1):
        if fence is None and (begins := re.match(r"( *)(`{3,})(.*)$", line)):
            fence, begun, lines = begins, number, []
        elif fence is not None and line.strip() == fence[2]:
            made = re.search(r"\bMake `([^`]+)`[^`]*:$", " ".join(paragraph))
            blocks.append(Block(begun + 1, fence[3].split() or ["?"], "".join(f"{text}\n" for text in lines),
                                made[1] if made else "", bool(blocks) and not paragraph))
            fence, paragraph = None, []
        elif fence is not None:
            lines.append(line.removeprefix(fence[1]))
        elif line.strip():
            paragraph = [*paragraph, line] if previous.strip() else [line]
        previous = line
    return blocks


def shown(raw):
    """Returns the text that a terminal shows for these bytes: without colours and erased lines."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    text = re.sub(r"[^\n]*\r\x1b\[K", "", text)
    return "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split("\n"))


# Values that differ from run to run: ids, short ids, times of day, durations. Each matches any other of its kind.
KINDS = [r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"\b[0-9a-f]{12}\b", r"\b\d\d:\d\d:\d\d\b", r"\b\d+\.\d+ ?s\b"]


def in_order(text):
    """Sorts the children of a tree by name, because they start in any order."""
    lines = [line.rstrip() for line in text.split("\n")]
    children = iter(sorted(line for line in lines if line.startswith("├─ ")))
    return "\n".join(next(children) if line.startswith("├─ ") else line for line in lines)


def pattern_of(expected):
    """Returns a pattern for the output. `...` matches any text in a line, and a line of `...` matches any lines."""
    def of_line(line):
        pieces = re.split("(" + "|".join(KINDS) + "|" + re.escape("...") + ")", line.rstrip())
        for number, piece in enumerate(pieces):
            kind = next((kind for kind in KINDS if re.fullmatch(kind, piece)), ".*" if piece == "..." else None)
            pieces[number] = kind or re.escape(piece)
        return "".join(pieces) + r"\n"
    return re.compile("".join(r"(?:.*\n)*?" if line.strip() == "..." else of_line(line)
                              for line in in_order(expected).splitlines()))


@functools.cache
def network():
    """Returns the words that run a command in its own network; empty if the system does not allow that."""
    for words in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return [*words, "/usr/bin/python3", "-c", LOOPBACK_UP, "own"]
    return ["/usr/bin/python3", "-c", LOOPBACK_UP, "shared"]


class Server:
    """A process that serves until it is stopped, and its output. `fifo` is the file that it prints to."""

    def __init__(self, fifo):
        os.mkfifo(fifo)
        self.pid = 0
        self.text = b""
        self.over = False  # the process has closed its output
        self.changed = threading.Condition()
        threading.Thread(target=self._read, args=[fifo], daemon=True).start()

    def _read(self, fifo):
        with open(fifo, "rb", buffering=0) as output:
            while piece := output.read(65536):
                with self.changed:
                    self.text += piece
                    self.changed.notify_all()
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def wait_for(self, condition):
        """Waits for the condition. Returns False if the time or the process ends first."""
        with self.changed:
            self.changed.wait_for(lambda: condition() or self.over, WAIT_S)
            return condition()

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                pass
            if self.wait_for(lambda: self.over):
                return


class Shell:
    """Runs blocks in a folder with the same files as a reader's."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-pages-"))
        self.home = self.folder / "baton"
        skip = shutil.ignore_patterns("__pycache__", "node_modules")
        for name in ("agent-cards", "schema", "scripts"):
            shutil.copytree(ROOT / name, self.home / name, ignore=skip)
        for place in (self.home / "build/release/baton", self.folder / "bin/baton"):
            place.parent.mkdir(parents=True)
            place.symlink_to(PROGRAM)
        # Does the same as ./scripts/up if everything is installed and built.
        (self.home / "scripts/up").write_text('#!/bin/sh\nexec build/release/baton serve "$@"\n', encoding="ascii")
        self.servers = {}
        self.dev = None  # the server that is `baton dev`
        self.count = 0
        self.terminal, its = pty.openpty()
        termios.tcsetwinsize(its, (ROWS, COLUMNS))
        environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin:{os.environ['PATH']}", "HOME": str(self.home), "TERM": "xterm",
                       "LANG": "C.UTF-8", "NO_COLOR": "1", "USER": "you"}
        self.process = subprocess.Popen([*network(), "bash", "-c", LOOP], stdin=subprocess.PIPE, stdout=its, stderr=its,
                                        cwd=self.home, env=environment, start_new_session=True)
        os.close(its)

    def _do(self, kind, block, output=""):
        """Runs a block. Returns its exit status, its line or process, and its output."""
        self.count += 1
        file = self.folder / f"block-{self.count}"
        file.write_text("\n" * (block.line - 1) + block.text, encoding="utf-8")
        self.process.stdin.write(f"{kind} {file} {output}\n".encode())
        self.process.stdin.flush()
        read, deadline = b"", time.monotonic() + WAIT_S
        over = re.compile(rb"\x1e" + re.escape(str(file).encode()) + rb" (\d+) (\d+)\x1e\r\n")
        while not (done := over.search(read)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                return -1, 0, shown(read) + f"[not over after {WAIT_S:.0f} s]\n"
            try:
                read += os.read(self.terminal, 65536)
            except OSError:
                return -1, 0, shown(read) + "[the shell has ended]\n"
        said = shown(read[:done.start()])
        return int(done[1]), int(done[2]), said + "\n" if said and not said.endswith("\n") else said

    def run(self, block):
        return self._do("block", block)

    def start(self, block):
        """Starts the server of a block. Returns the server once it listens, or the error as text."""
        words = [word for word in block.text.split() if "=" not in word.split("/")[0]]
        if words[0] in self.servers:
            self.servers.pop(words[0]).stop()
        server = Server(self.folder / f"output-{self.count}")
        _, server.pid, problem = self._do("server", block, self.folder / f"output-{self.count}")
        self.servers[words[0]] = server
        if words[:2] == ["baton", "dev"]:
            self.dev = server
        if server.pid and server.wait_for(lambda: b"listening on " in server.text):
            return None
        return problem + shown(server.text) + "[it does not listen]\n"

    def await_agents(self, block):
        """Waits until `baton dev` serves new agents, which takes a moment; a reader continues more slowly than that."""
        for agent in sorted(set(re.findall(r"--agent ([\w-]+)", block.text))) if self.dev else []:
            url = re.search(r"listening on (\S+)", shown(self.dev.text))[1]
            looks = f"for ((i = 0; i < 100; ++i)); do baton card {agent} --url {url} &>/dev/null && break; sleep 0.1; done\n"
            status, _, said = self.run(Block(1, ["sh"], looks))
            if status < 0:
                raise AssertionError(f"looking for the agent {agent}: {said}")

    def close(self):
        for server in self.servers.values():
            server.stop()
        self.process.stdin.close()
        try:
            self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.terminal)
        shutil.rmtree(self.folder, ignore_errors=True)


class Pages(unittest.TestCase):
    maxDiff = None

    def run_page(self, name):
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = blocks_of(text)
        if not any(block.info[0] == "sh" for block in blocks):
            return
        shell = Shell()
        self.addCleanup(shell.close)
        lines = text.splitlines()
        for block, following in zip(blocks, [*blocks[1:], None]):
            expected = following if following and following.follows and following.info == ["text"] else None
            if block.path and block.info[0] != "sh":
                path = shell.home / block.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.info == ["sh", "server"]:
                problem = shell.start(block)
                if problem is not None:
                    self.fail(f"{name}:{block.line}: {block.text}{problem}")
            elif block.info[0] == "sh":
                self.run_block(name, lines, shell, block, expected)
            elif block.info[:2] == ["text", "from"]:
                self.await_text(name, shell.servers[block.info[2]], block)
        for word, server in shell.servers.items():
            self.assertFalse(server.over, f"{name}: {word} has ended: {shown(server.text)[-2000:]}")

    def run_block(self, name, lines, shell, block, expected):
        wanted = int(block.info[2]) if block.info[1:2] == ["exits"] else 0
        shell.await_agents(block)
        status, line, said = shell.run(block)
        if status != wanted:
            command = lines[line - 1] if line else block.text
            self.fail(f"{name}:{line or block.line}: exit status {status}, not {wanted}: {command}\n{said}{self.logs(shell)}")
        if expected and not pattern_of(expected.text).fullmatch(in_order(said)):
            self.fail(f"{name}:{expected.line}: {block.text}is to print\n{expected.text}but prints\n{said}")

    def await_text(self, name, server, block):
        pattern = pattern_of(block.text)
        if not server.wait_for(lambda: pattern.search(shown(server.text))):
            self.fail(f"{name}:{block.line}: is to be printed\n{block.text}but this is\n{shown(server.text)}")

    @staticmethod
    def logs(shell):
        """Returns the last output of each server."""
        return "".join(f"-- {word}: {shown(server.text)[-1500:]}\n" for word, server in shell.servers.items())


def is_fine(block):
    words = block.info
    return (words in (["sh"], ["sh", "server"], ["console"]) or (words[:2] == ["sh", "exits"] and len(words) == 3)
            or (words[0] in EXAMPLES and (len(words) == 1 or words[0] == "json" or words[:2] == ["text", "from"])))


class Blocks(unittest.TestCase):
    def test_every_block_says_what_it_is(self):
        for name in PAGES:
            text = (ROOT / name).read_text(encoding="utf-8")
            for block in blocks_of(text):
                self.assertTrue(is_fine(block), f"{name}:{block.line}: {' '.join(block.info)}")

    def test_no_block_is_indented_instead_of_fenced(self):
        for name in PAGES:
            text = (ROOT / name).read_text(encoding="utf-8")
            # Replaces blocks with empty lines, so that line numbers stay the same.
            text = re.sub(r"(?ms)^( *)(`{3,}).*?^\1\2$", lambda found: "\n" * found[0].count("\n"), text)
            previous, in_list = "", False
            for number, line in enumerate(text.splitlines(), start=1):
                in_list = bool(re.match(r"[-\d]", line)) or (in_list and (not line.strip() or line.startswith(" ")))
                if line.startswith("    ") and not previous.strip() and not in_list:
                    self.fail(f"{name}:{number}: {line}")
                previous = line

    def test_every_message_that_an_operators_page_quotes_is_in_the_source(self):
        source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.cpp")))
        source = re.sub(r'"\s*\n\s*"', "", source)  # a text that continues on the next line
        for page in (*sorted(ROOT.glob("scripts/*.md")), ROOT / "schema/postgres/README.md"):
            text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
            for quoted in re.findall(r"`([a-z][A-Za-z',:\s-]+)`", text):
                quoted = " ".join(quoted.split())
                if quoted.count(" ") >= 4 and not quoted.startswith("baton "):
                    self.assertTrue(quoted in source, f"{page}: {quoted}")

    def test_a_block_is_read_with_its_line_its_path_and_what_follows(self):
        page = "Make `a/b.json`, a file:\n\n```json\n{}\n```\n\n```sh\nls\n\n```\n\n```text\nx\n```\nwords\n```text\ny\n```\n"
        found = [(block.line, block.info, block.text, block.path, block.follows) for block in blocks_of(page)]
        self.assertEqual(found, [(4, ["json"], "{}\n", "a/b.json", False), (8, ["sh"], "ls\n\n", "", True),
                                 (13, ["text"], "x\n", "", True), (17, ["text"], "y\n", "", False)])

    def test_dots_stand_for_anything_in_a_line_and_for_lines(self):
        pattern = pattern_of("a ... b\n...\nend.\n")
        children = pattern_of("a\n├─ b\n├─ c\n└─ d\n")
        self.assertTrue(children.fullmatch(in_order("a\n├─ c\n├─ b\n└─ d\n")))
        self.assertFalse(children.fullmatch(in_order("a\n├─ c\n├─ c\n└─ d\n")))
        tree = pattern_of("echo  10:00:00  0.0s  c85dbe3ff37b\n")
        self.assertTrue(tree.fullmatch("echo  23:59:00  1.2s  000000000000\n"))
        self.assertFalse(tree.fullmatch("echo  23:59:00  1.2s  00000000000\n"))
        for text, fits in (("a 1 b\nend.\n", True), ("a  b\nx\ny\nend.\n", True), ("a 1\nend.\n", False), ("a . b\nends\n", False)):
            self.assertEqual(bool(pattern.fullmatch(text)), fits, text)


class Runner(unittest.TestCase):
    """Blocks written for these tests."""

    def setUp(self):
        self.shell = Shell()
        self.addCleanup(self.shell.close)

    def test_variables_and_the_folder_stay_and_output_is_a_terminals(self):
        self.assertEqual(self.shell.run(Block(1, ["sh"], "A=1\ncd schema\n"))[0], 0)
        self.assertEqual(self.shell.run(Block(1, ["sh"], 'echo "$A $(basename "$PWD")"; test -t 1\n')), (0, 0, "1 schema\n"))

    def test_the_first_command_that_fails_ends_its_block_and_is_told_by_its_line(self):
        self.assertEqual(self.shell.run(Block(7, ["sh"], "echo a\nsh -c 'exit 3' | cat\necho b\n")), (3, 8, "a\n"))
        self.assertEqual(self.shell.run(Block(1, ["sh"], "echo c\n")), (0, 0, "c\n"))

    def test_a_server_takes_the_place_of_the_one_that_the_same_command_started(self):
        block = Block(1, ["sh", "server"], "sh -c 'echo listening on port $$; exec sleep 1000'\n")
        self.assertIsNone(self.shell.start(block))
        first = self.shell.servers["sh"]
        self.assertIsNone(self.shell.start(block))
        self.assertIsNot(self.shell.servers["sh"], first)
        self.assertTrue(first.over)
        self.assertFalse(self.shell.servers["sh"].over)

    def test_a_server_that_does_not_listen_is_a_problem(self):
        self.assertIn("no\n[it does not listen]", self.shell.start(Block(1, ["sh", "server"], "echo no\n")))


def page_test(name):
    return lambda self: self.run_page(name)


for page_name in PAGES:
    method = "test_" + re.sub(r"\W", "_", page_name.removesuffix(".md")).lower()
    setattr(Pages, method, page_test(page_name))


if __name__ == "__main__":
    unittest.main()
