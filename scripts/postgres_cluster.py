"""A PostgreSQL cluster for tests. It runs as an unprivileged user (for root: postgres, or nobody), lives in a temporary
folder and listens on a free loopback port and on a socket in that folder."""
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

FAST = ["fsync=off"]
# MD5, because SCRAM computes thousands of hashes on each connection: with eight connections a store, that was a fifth of
# the time of the store's contract. Either is between libpq and the server alone.
SETTINGS = ["max_connections=300", "shared_buffers=128MB", "max_wal_size=1GB", "cluster_name=baton-tests",
            "password_encryption=md5"]
ROLE = "baton"


class NoCluster(Exception):
    pass


def programs():
    """Returns the programs of the newest version installed from Debian's packages."""
    versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("[0-9]*/bin/initdb"), key=lambda file: int(file.parts[4]))
    if not versions:
        raise NoCluster("PostgreSQL is missing: scripts/test installs it (scripts/packages)")
    return versions[-1].parent


def owner():
    """Returns the user that runs the server. PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid())
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    raise NoCluster("neither the user postgres nor nobody is there")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """`fast`: without flushes to disk. `inside`: a folder of the same user to use instead of the one for temporary
    files."""

    def __init__(self, fast, inside=None):
        self.programs, self.owner = programs(), owner()
        self.settings = SETTINGS + (FAST if fast else [])
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-postgres-", dir=inside))
        self.passwords = self.folder / "passwords"
        self.server = None

    def as_owner(self, *command):
        """Wraps the command to run as the owner. The server ends at once if this program is killed."""
        words = ["setpriv", "--pdeathsig", "QUIT"]
        if os.getuid() == 0:
            words += [f"--reuid={self.owner.pw_uid}", f"--regid={self.owner.pw_gid}", "--clear-groups"]
        return [*words, *map(str, command)]

    def run(self, *command, **how):
        done = subprocess.run(self.as_owner(*command), cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, **how)
        if done.returncode != 0:
            raise NoCluster(f"{pathlib.Path(command[0]).name} failed:\n{done.stdout}")
        return done.stdout

    def start(self):
        os.chown(self.folder, self.owner.pw_uid, self.owner.pw_gid)
        # Only the owner and root can enter the folder and reach the socket.
        self.run(self.programs / "initdb", "--pgdata=data", "--username=postgres", "--auth-local=trust",
                 "--auth-host=md5", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        self.choose_port()
        password = secrets.token_hex(16)
        self.administer(f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{password}'", f"CREATE DATABASE {ROLE} OWNER {ROLE}")
        # For any port, because tests put gates in front of the server.
        self.passwords.touch(mode=0o600)
        self.passwords.write_text(f"*:*:*:{ROLE}:{password}\n", encoding="ascii")

    def choose_port(self):
        """Chooses a free port and starts the server on it."""
        for _ in range(3):  # another program may take the port first
            self.port = free_port()
            if self.start_server():
                return
        raise NoCluster("the server did not start:\n" + (self.folder / "log").read_text(errors="replace")[-3000:])

    def start_as_standby(self, primary):
        """Copies the data of a running cluster and follows it under the name "standby"."""
        os.chown(self.folder, self.owner.pw_uid, self.owner.pw_gid)
        source = f"host={primary.folder} port={primary.port} user=postgres application_name=standby"
        self.run(self.programs / "pg_basebackup", "--pgdata=data", "--checkpoint=fast", "--write-recovery-conf",
                 "--no-sync", f"--dbname={source}")
        self.choose_port()

    def promote(self):
        """Promotes a standby to primary. Returns before it accepts writes."""
        self.run(self.programs / "pg_ctl", "promote", "--pgdata=data", "--no-wait")

    def administer(self, *statements):
        """Runs the statements one by one as the superuser. Returns their output."""
        return self.run(self.programs / "psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
                        "--set=ON_ERROR_STOP=1", f"--host={self.folder}", f"--port={self.port}", "--username=postgres",
                        "--dbname=postgres", input=";\n".join(statements) + ";\n")

    def start_server(self):
        """Starts the server. Returns whether it accepts connections."""
        settings = ["listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", *self.settings]
        with open(self.folder / "log", "ab") as log:
            self.server = subprocess.Popen(
                self.as_owner(self.programs / "postgres", "-D", "data", "-p", self.port,
                              *(word for setting in settings for word in ("-c", setting))),
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        ready = [self.programs / "pg_isready", "--quiet", f"--host={self.folder}", f"--port={self.port}"]
        deadline = time.monotonic() + 60
        while self.server.poll() is None and time.monotonic() < deadline:
            if subprocess.run(ready, check=False).returncode == 0:
                return True
            time.sleep(0.05)
        self.stop_server()
        return False

    def stop_server(self, number=signal.SIGQUIT):
        """Stops at once, as in a crash: the next start recovers confirmed commits."""
        if self.server and self.server.poll() is None:
            self.server.send_signal(number)
            try:
                self.server.wait(20)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()

    def environment(self):
        """Returns the variables of a command that uses this cluster. Its psql is the program itself: Debian's wrapper
        in /usr/bin takes five times as long."""
        allow = ",".join(setting for setting in self.settings if setting in FAST)
        path = f"{self.programs}:{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, "PATH": path, "PGPASSFILE": str(self.passwords), "BATON_TEST_POSTGRES_ALLOW": allow,
                "BATON_TEST_POSTGRES": f"postgresql://{ROLE}@127.0.0.1:{self.port}/{ROLE}"}

    def remove(self):
        self.stop_server()
        shutil.rmtree(self.folder, ignore_errors=True)
