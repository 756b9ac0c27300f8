"""Shared by the tests of several nodes: Batons that serve one database, each with its own port and folder, and a proxy
in front of them."""
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
# The time within which a turn whose node was lost must run again, in seconds. A lease has 4.5 to 5 s left at any time:
# the turn of a node that has ended does not wait for its end, and that of a frozen one not for a second one.
KILLED_S, FROZEN_S, STOPPED_S = 4, 9, 4


class GatedDatabase(databases.PostgresDatabase):
    """The nodes reach the database through a gate, the test directly. The owner of the database drops it."""

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
    """`is_up`: the proxy may send requests to this node."""

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
        """Waits for a node that ends by itself. Returns its exit code."""
        self.is_up = False
        return self.process.wait(client.scaled(20))


class Nodes:
    """`agents`: the agents of every node, or a list for each. `kind`: the class of nodes. `database`: an existing one
    to use instead of a new one."""

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
        """Starts these nodes, or all, at the same time."""
        with concurrent.futures.ThreadPoolExecutor() as threads:
            list(threads.map(Node.start, nodes or self.all))

    def change_card(self, agent, **baton):
        """Changes the card at all nodes that have this agent. Call it before they start."""
        for node in self.all:
            path = node.agents_folder / agent / "card.json"
            if path.exists():
                card = json.loads(path.read_text(encoding="utf-8"))
                card["baton"] |= baton
                path.write_text(json.dumps(card), encoding="utf-8")

    def gate(self, agent, name):
        """Opens an agent's gate on all nodes that have the agent."""
        for node in self.all:
            if (node.agents_folder / agent).exists():
                node.gate(agent, name)

    def attempt(self, task):
        return self.query(f"SELECT attempt FROM tasks WHERE public_id = '{task}'")[0][0]

    def living(self):
        """Returns the indexes of the nodes that serve."""
        return [index for index, node in enumerate(self.all) if node.is_up]

    def close(self):
        """Ends all nodes. Raises an error for a node that had ended by itself or does not end well."""
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
    """Set AGENTS (see Nodes), CONFIG and OPTIONS. `self.nodes` has the running nodes."""

    AGENTS = ["player"]
    CONFIG = {}
    OPTIONS = ()
    COUNT = 3

    @classmethod
    def make(cls):
        return Nodes(cls.COUNT, cls.AGENTS, cls.CONFIG, cls.OPTIONS)

    @classmethod
    def prepare(cls, nodes):
        """Override to change agents' cards before the nodes start."""

    def at(self, index, generation=new_generations.Rpc10, agent="player", **how):
        """Returns a client at one of the nodes."""
        return generation(self.nodes[index], agent, **how)

    def through(self, generation=new_generations.Rpc10, agent="player"):
        """Returns a client whose requests each go to another node."""
        return generation(self.nodes.proxy, agent)

    def wait_end(self, task, state="completed", index=0, seconds=20, agent="player"):
        at = self.at(index, agent=agent)
        harness.wait_for(lambda: at.get(task).state in ("completed", "failed", "canceled", "rejected"), seconds,
                         f"{task} to end")
        done = at.get(task, history=100)
        self.assertEqual(done.state, state, done)
        return done

    def wait_attempt(self, task, attempt, seconds):
        self.wait_rows(lambda: self.nodes.attempt(task) >= attempt, seconds, f"attempt {attempt} of {task}")

    @staticmethod
    def wait_rows(condition, *how):
        """Waits for a condition on rows. Each look starts psql and opens a connection, so there are fewer."""
        return harness.wait_for(condition, *how, pause=0.1)

    def assert_consecutive(self, blocks, after=0):
        """Asserts that the blocks of a stream, which show the numbers they cover, leave no gap after `after`."""
        covered = [number for block in blocks if block.number is not None for number in block.covers]
        self.assertEqual(covered, list(range(after + 1, after + 1 + len(covered))))

    def assert_logs_whole(self):
        """Asserts that each task's log in the database has all its numbers."""
        self.assertEqual(self.nodes.query(
            "SELECT t.public_id, t.last_event, count(*) AS many FROM tasks t JOIN events e ON "
            "e.event_key >> 28 = t.task_key GROUP BY t.task_key, t.public_id, t.last_event HAVING "
            "count(*) <> t.last_event OR min(e.event_key & 268435455) <> 1 OR "
            "max(e.event_key & 268435455) <> t.last_event"), [])

    def at_once(self, *acts):
        """Runs these at the same time. Returns their results, or the errors they raise, in order."""
        def run(act):
            try:
                return act()
            except Exception as error:  # any error is a result for the test
                return error
        with concurrent.futures.ThreadPoolExecutor(len(acts)) as threads:
            return list(threads.map(run, acts))


class SharedNodesCase(Helpers):
    """All tests of a class share the same nodes, which stay up."""

    @classmethod
    def setUpClass(cls):
        cls.nodes = cls.make()
        cls.addClassCleanup(cls.nodes.close)
        cls.prepare(cls.nodes)
        cls.nodes.start()


class NodesCase(Helpers):
    """Each test has its own nodes, to stop and to start. `FIRST`: how many of them run at its beginning."""

    FIRST = None

    def setUp(self):
        self.nodes = self.make()
        self.addCleanup(self.nodes.close)
        self.prepare(self.nodes)
        self.nodes.start(self.nodes.all[:self.FIRST])
        # For a while after the database has started, no node is declared dead, because the outage may have kept all of
        # them from renewing.
        self.wait_rows(lambda: self.nodes.query("SELECT 1 AS one WHERE clock_timestamp() - "
                                                "pg_postmaster_start_time() > interval '6 s'"), 20,
                       "the database to be up for longer than a lease")
