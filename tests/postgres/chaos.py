"""Faults on real processes: nodes that are killed and frozen and that a supervisor restarts, connections that are cut
or half-open, and a database that ends sessions, is restarted as after a crash, and has a full disk."""
import collections
import concurrent.futures
import signal
import threading
import time

import gates
import nodes
import postgres_cluster
import small_disk

# The mean interval of each fault, in seconds.
PERIODS = {"kill": 3.3, "freeze": 45, "cut_clients": 8, "cut_database": 8, "half_open_clients": 20,
           "half_open_database": 40, "terminate_backends": 15, "restart_database": 33, "fill_disk": 140,
           "fill_log": 280}
FROZEN_S = (5.5, 8)  # longer than a lease
CUT_AT_ONCE = 3
SAID_MAX, SHOWN_MAX = 20, 1500
# Allowed reasons for a node to end by itself.
TAKEN_OVER = "another Baton has taken over the database"
NO_DATABASE = ("the store is temporarily unavailable; try again", ": connection to server at",
               "the connection to the database is lost", "terminating connection due to administrator command")


class Wrong(list):
    """The violations. Each is printed at once, because a long run may be stopped."""

    def append(self, what):
        super().append(what)
        if len(self) <= SAID_MAX:
            print(f"   wrong: {what[:SHOWN_MAX]}", flush=True)


class Cluster(postgres_cluster.Cluster):
    """A cluster with its tables and its log on disks that can be filled. `why_not`: why it has no such disks."""

    tables_disk = log_disk = why_not = None
    disks = ()

    def __init__(self, *how, **more):
        super().__init__(*how, **more)
        # The server is killed when the thread that started it ends, so that thread is kept.
        self.starter = concurrent.futures.ThreadPoolExecutor(1)

    def start_server(self):
        return self.starter.submit(super().start_server).result()

    def start(self):
        try:
            small_disk.leave_namespace()
            # The other files are in memory, too: a machine's disk may stand still for longer than a client's patience.
            self.disks = [small_disk.SmallDisk(self.folder / name, self.owner) for name in ("data", "tables", "wal")]
            tables, log = self.disks[1:]
        except small_disk.NotAllowed as error:
            self.why_not = str(error)
        super().start()
        if self.why_not:
            return
        # Puts new databases there, too.
        self.administer(f"CREATE TABLESPACE small LOCATION '{tables.folder}'",
                        "ALTER DATABASE template1 SET TABLESPACE small")
        self.stop_server(signal.SIGINT)
        kept = self.folder / "data/pg_wal"
        self.run("mv", kept, log.folder)
        kept.symlink_to(log.folder / "pg_wal")
        self.restart()
        self.tables_disk, self.log_disk = tables, log

    def restart(self):
        if not self.start_server():
            raise postgres_cluster.NoCluster("it did not start: " + (self.folder / "log").read_text()[-3000:])

    def complaints(self):
        """Returns how often the server has logged that a disk is full."""
        return (self.folder / "log").read_text(errors="replace").count("No space left on device")

    def remove(self):
        self.stop_server()
        for disk in self.disks:
            disk.remove()
        super().remove()
        self.starter.shutdown()


class Supervised(nodes.Node):
    """A node that is restarted whenever it ends, until `rest`. `on_end(node, said)` is called if it ended by itself."""

    def watch(self, random, on_end):
        self.random, self.on_end = random, on_end
        self.is_watched, self.was_killed, self.starts = True, False, 0
        self.guard = threading.Thread(target=self.keep)
        self.guard.start()

    def keep(self):
        while self.is_watched:
            if self.process and self.running():
                time.sleep(0.02)
                continue
            self.is_up = self.is_frozen = False
            if self.process and not self.was_killed:
                self.on_end(self, self.log_text()[self.told:])
            self.was_killed = False
            time.sleep(self.random.uniform(0, 0.3))
            self.told = len(self.log_text()) if (self.folder / "log").exists() else 0
            try:
                self.start()
                self.starts += 1
            except AssertionError:  # it has ended, which the next round sees
                pass

    def kill(self):
        self.is_up, self.was_killed = False, True
        self.process.kill()

    def rest(self):
        self.is_watched = False
        self.guard.join()


class Chaos:
    """`cluster`: a failover.Case's. `seconds`: the length of the run. `done` counts the faults by name; `wrong` has the
    violations."""

    def __init__(self, cluster, count, agents, config, random, seconds):
        self.cluster, self.random, self.seconds = cluster, random, seconds
        self.done, self.wrong = collections.Counter(), Wrong()
        self.gate = gates.DatabaseGate(cluster.port)
        self.nodes = nodes.Nodes(count, agents, config, [], kind=Supervised, database=nodes.GatedDatabase(self.gate))
        self.proxy = self.nodes.proxy
        self.over = threading.Event()
        self.on_database = threading.Lock()  # one restart or full disk at a time
        self.threads = [threading.Thread(target=self.keep_database)]

    def start(self):
        for node in self.nodes:
            node.watch(self.random, self.on_end)
        nodes.harness.wait_for(lambda: all(node.is_up for node in self.nodes), 30, "all nodes to serve")

    def begin(self):
        for name, period in PERIODS.items():
            how = getattr(self, name), min(period, self.seconds / 4)
            self.threads.append(threading.Thread(target=self.repeat, args=how))
        for thread in self.threads:
            thread.start()

    def keep_database(self):
        """Restarts the database if a full disk has ended it."""
        while not self.over.wait(0.1):
            self.restart_ended()

    def restart_ended(self):
        with self.on_database:
            if self.cluster.server.poll() is not None:
                self.cluster.restart()
                self.done["databases that ended"] += 1

    def repeat(self, fault, period):
        # The first fault comes early, so that a short run has one of each.
        wait = self.random.uniform(0.3, 1) * period
        while not self.over.wait(wait):
            wait = self.random.uniform(0.5, 1.5) * period
            try:
                if fault() is False:
                    wait = 0.2
            except Exception as error:  # otherwise nobody would see that the thread ended
                self.wrong.append(f"{fault.__name__}: {error!r}")

    def settle(self):
        """Ends all faults. Returns once all nodes serve."""
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.restart_ended()
        nodes.harness.wait_for(lambda: all(node.is_up for node in self.nodes), 60, "all nodes to serve again")

    def evidence(self):
        """Returns the logs of a run that failed."""
        texts = [f"node {number} ({'serves' if node.is_up else 'does not serve'}):\n{node.log_text()[-4000:]}"
                 for number, node in enumerate(self.nodes)]
        log = (self.cluster.folder / "log").read_text(errors="replace")[-4000:]
        return "\n".join([*texts, f"database ({self.cluster.server.poll()}):\n{log}"])

    def close(self):
        self.over.set()
        for node in self.nodes:
            node.rest()
        self.nodes.close()
        self.gate.end()

    def on_end(self, node, said):
        code, last = node.process.returncode, said[said.rfind("\nbaton: ") + 1:]
        if code > 0 and TAKEN_OVER in said:
            self.done["nodes found dead"] += 1
        elif code > 0 and last.startswith("baton: ") and any(why in last for why in NO_DATABASE):
            self.done["starts without a database"] += 1
        else:
            self.wrong.append(f"a node ended with {code}: {said[-3000:]}")

    # The faults. A fault returns False if it was not possible now.

    def some_node(self):
        there = [node for node in self.nodes if node.process and node.running() and not node.is_frozen]
        return self.random.choice(there) if there else None

    def kill(self):
        node = self.some_node()
        if not node:
            return False
        node.kill()
        self.done["kills"] += 1
        return True

    def freeze(self):
        node = self.some_node()
        if not node or not node.is_up:
            return False
        process, node.is_frozen = node.process, True
        process.send_signal(signal.SIGSTOP)
        # Clients need a moment to notice.
        self.over.wait(1)
        node.is_up = False
        self.over.wait(self.random.uniform(*FROZEN_S) - 1)
        node.is_up, node.is_frozen = True, False
        process.send_signal(signal.SIGCONT)
        self.done["freezes"] += 1
        return True

    def cut_clients(self):
        self.done["cut clients"] += self.proxy.cut(self.random, CUT_AT_ONCE)

    def cut_database(self):
        self.done["cut database connections"] += self.gate.cut(self.random, CUT_AT_ONCE)

    def half_open_clients(self):
        self.done["half-open clients"] += self.proxy.half_open(self.random, CUT_AT_ONCE)

    def half_open_database(self):
        self.done["half-open database connections"] += self.gate.half_open(self.random, 1)

    def terminate_backends(self):
        with self.on_database:
            try:
                ended = self.cluster.administer(
                    "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE "
                    "application_name = 'baton' ORDER BY random() LIMIT 3) AS chosen")
            except postgres_cluster.NoCluster:
                return  # it is recovering from a full disk
            # A backend that has just ended by itself adds a warning before the count.
            self.done["terminated backends"] += int(ended.split()[-1])

    def restart_database(self):
        with self.on_database:
            self.cluster.stop_server()
            self.over.wait(self.random.uniform(0, 1))
            self.cluster.restart()
            self.done["database restarts"] += 1

    def fill_disk(self):
        self.fill(self.cluster.tables_disk, lambda: None)

    def fill_log(self):
        # The log needs new files only once the existing ones are full.
        self.fill(self.cluster.log_disk, lambda: self.cluster.administer("SELECT pg_switch_wal()"))

    def fill(self, disk, hurry):
        """Fills the disk for a while. `keep_database` restarts a server that ends because of it."""
        if not disk:
            return
        with self.on_database:
            before, until = self.cluster.complaints(), time.monotonic() + self.random.uniform(1, 4)
            disk.fill()
            try:
                while time.monotonic() < until and not self.over.wait(0.1):
                    hurry()
            except postgres_cluster.NoCluster:
                pass  # the server has crashed
            disk.free()
            self.done["full disks"] += self.cluster.complaints() > before
