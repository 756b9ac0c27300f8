"""What the tests of several nodes share: Batons that serve one database, each on a port and with a folder of its own, and
a proxy before them."""
import concurrent.futures
import json
import pathlib
import signal
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import client
import databases
import harness
import new_generations
import old_generations
import round_robin

CONFIG = {"engine": {"drain_grace_s": 0.2},
          "webhooks": {"retry_first_s": 0.05, "retry_max_s": 0.2, "timeout_s": 5}}
GENERATIONS = (old_generations.Rpc01, old_generations.Rpc03, new_generations.Rpc10)
# A turn that lost its node is to run again within so many seconds.
KILLED_S, FROZEN_S, STOPPED_S = 2, 7, 2


class GatedDatabase(databases.PostgresDatabase):
    """The nodes reach it through a gate, the test past it. Whoever has made it, or its cluster, drops it."""

    def __init__(self, gate, url=None):
        super().__init__(url)
        self.gate = gate

    def drop(self):
        pass

    def words(self):
        words = super().words()
        words[1] = words[1].replace(f":{self.gate.before}/", f":{self.gate.port}/")
        return words


class Node(harness.Server):
    """`is_up`: whether the proxy may send it requests."""

    is_up = is_frozen = False

    def start(self):
        super().start()
        self.is_up = True
        return self

    def kill(self):
        self.is_up = False
        super().kill()

    def stop(self, *how, **more):
        self.is_up = False
        return super().stop(*how, **more)

    def freeze(self):
        self.is_up, self.is_frozen = False, True
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.is_frozen = False
        self.process.send_signal(signal.SIGCONT)

    def ended(self):
        """The exit code of a node that ends by itself."""
        self.is_up = False
        return self.process.wait(client.scaled(20))


class Nodes:
    """`agents`: those of every node, or a list for each. `kind`: of Node. `database`: another one than of their own."""

    def __init__(self, count, agents, config, options, kind=Node, database=None):
        each = agents if isinstance(agents[0], list) else [agents] * count
        self.all, self.wrong = [], []
        for names in each:
            self.all.append(kind(names, {**CONFIG, **config}, ["--allow-private-webhooks", *options], database))
            database = self.all[0].database
        self.database = database
        self.query = self.database.query
        self.proxy = round_robin.Proxy(lambda: [node.port for node in self.all if node.is_up])

    def __getitem__(self, index):
        return self.all[index]

    def __iter__(self):
        return iter(self.all)

    def start(self, nodes=None):
        """These or all of them, at the same time."""
        with concurrent.futures.ThreadPoolExecutor() as threads:
            list(threads.map(Node.start, nodes or self.all))

    def change_card(self, agent, **baton):
        """Of the nodes that have this agent; before they start."""
        for node in self.all:
            path = node.agents_folder / agent / "card.json"
            if path.exists():
                card = json.loads(path.read_text(encoding="utf-8"))
                card["baton"] |= baton
                path.write_text(json.dumps(card), encoding="utf-8")

    def gate(self, agent, name):
        """Lets an agent that waits go on, on whichever node it does."""
        for node in self.all:
            if (node.agents_folder / agent).exists():
                node.gate(agent, name)

    def attempt(self, task):
        return self.query(f"SELECT attempt FROM tasks WHERE public_id = '{task}'")[0][0]

    def living(self):
        """The places of those that serve."""
        return [index for index, node in enumerate(self.all) if node.is_up]

    def close(self):
        """Ends all of them. A node that has ended by itself, or does not end well, is an error."""
        self.proxy.end()
        wrong = [node for node in self.all if node.is_up and not node.running()]
        ending = [node for node in self.all if node.running()]
        for node in ending:
            node.close()
            node.process.send_signal(signal.SIGKILL if node.is_frozen else signal.SIGTERM)
        for node in ending:
            try:
                code = node.process.wait(client.scaled(20))
            except harness.subprocess.TimeoutExpired:
                node.process.kill()
                code = node.process.wait()
            if code != 0 and not node.is_frozen:
                wrong.append(node)
        said = [f"node {self.all.index(node)} ended with {node.process.returncode}:\n{node.log_text()[-3000:]}"
                for node in wrong if node.process]
        for node in self.all:
            node.discard()
        if said:
            raise AssertionError("\n".join(said))


class Helpers(unittest.TestCase):
    """Set AGENTS (see Nodes), CONFIG and OPTIONS. `self.nodes`: what there is."""

    AGENTS = ["player"]
    CONFIG = {}
    OPTIONS = ()
    COUNT = 3

    @classmethod
    def make(cls):
        return Nodes(cls.COUNT, cls.AGENTS, cls.CONFIG, cls.OPTIONS)

    @classmethod
    def prepare(cls, nodes):
        """For tests whose agents' cards say more: before the nodes start."""

    def at(self, index, generation=new_generations.Rpc10, agent="player", **how):
        """A client at one of the nodes."""
        return generation(self.nodes[index], agent, **how)

    def through(self, generation=new_generations.Rpc10, agent="player"):
        """A client whose every request goes to another node."""
        return generation(self.nodes.proxy, agent)

    def wait_end(self, task, state="completed", index=0, seconds=20, agent="player"):
        at = self.at(index, agent=agent)
        harness.wait_for(lambda: at.get(task).state in ("completed", "failed", "canceled", "rejected"), seconds,
                         f"{task} to end")
        done = at.get(task, history=100)
        self.assertEqual(done.state, state, done)
        return done

    def wait_attempt(self, task, attempt, seconds):
        harness.wait_for(lambda: self.nodes.attempt(task) >= attempt, seconds, f"attempt {attempt} of {task}")

    def assert_consecutive(self, blocks, after=0):
        """Blocks of a stream whose events say what they cover."""
        covered = [number for block in blocks if block.number is not None for number in block.covers]
        self.assertEqual(covered, list(range(after + 1, after + 1 + len(covered))))

    def assert_logs_whole(self):
        """Each task's log in the database has all its numbers, and one end at most follows each beginning."""
        self.assertEqual(self.nodes.query(
            "SELECT t.public_id, t.last_event, count(*) AS many FROM tasks t JOIN events e ON "
            "e.event_key >> 28 = t.task_key GROUP BY t.task_key, t.public_id, t.last_event HAVING "
            "count(*) <> t.last_event OR min(e.event_key & 268435455) <> 1 OR "
            "max(e.event_key & 268435455) <> t.last_event"), [])

    def at_once(self, *acts):
        """What these return, or the errors they raise, in their order."""
        def run(act):
            try:
                return act()
            except Exception as error:  # of whatever kind: the test looks at it
                return error
        with concurrent.futures.ThreadPoolExecutor(len(acts)) as threads:
            return list(threads.map(run, acts))


class SharedNodesCase(Helpers):
    """All tests of a class have the same nodes, which stay."""

    @classmethod
    def setUpClass(cls):
        cls.nodes = cls.make()
        cls.addClassCleanup(cls.nodes.close)
        cls.prepare(cls.nodes)
        cls.nodes.start()


class NodesCase(Helpers):
    """Each test has nodes of its own, to end and to start. `FIRST`: how many of them run when it begins."""

    FIRST = None

    def setUp(self):
        self.nodes = self.make()
        self.addCleanup(self.nodes.close)
        self.prepare(self.nodes)
        self.nodes.start(self.nodes.all[:self.FIRST])
        # Nobody is declared dead soon after the database has started: that may have kept all from it.
        harness.wait_for(lambda: self.nodes.query("SELECT 1 AS one WHERE clock_timestamp() - "
                                                  "pg_postmaster_start_time() > interval '6 s'"), 20,
                         "the database to be up for longer than a lease")
