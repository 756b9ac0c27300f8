"""`--db` with the URL of a PostgreSQL database: no password is shown anywhere, and commands that need a file say so."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import client
import databases
import harness

SECRET = "sEcReT"
NOBODY = f"postgresql://baton:{SECRET}@127.0.0.1:1/tasks"


def run(*words, **variables):
    """Runs the program, which must end by itself. Returns its exit code and standard error."""
    with tempfile.TemporaryDirectory(prefix="baton-url-") as folder:
        done = subprocess.run([harness.PROGRAM, *words], env={**harness.program_environment(), **variables}, cwd=folder,
                              capture_output=True, text=True, timeout=client.scaled(60), check=False)
        return done.returncode, done.stdout + done.stderr


class Refused(unittest.TestCase):
    def test_a_password_on_the_command_line_is_refused_with_what_to_do_instead(self):
        code, said = run("serve", "--db", NOBODY)
        self.assertEqual(code, 2)
        self.assertIn("--db-file", said)
        self.assertNotIn(SECRET, said)

    def test_a_database_that_is_not_there_is_told_without_its_password(self):
        for url in (NOBODY, NOBODY.replace("@", "/x@"), NOBODY.replace("postgresql", "mysql"),
                    f"postgresql://127.0.0.1:1/tasks?password={SECRET}&connect_timeout=x"):
            with self.subTest(url):
                code, said = run("serve", "--port", "0", BATON_DB=url)
                self.assertIn(code, (1, 2))
                self.assertTrue(said)
                self.assertNotIn(SECRET, said)

    def test_commands_for_files_name_the_tool_for_postgresql(self):
        for words, tool in ((("backup", "copy"), "pg_dump"), (("check",), "pg_amcheck"), (("stats",), "pg_database_size"),
                            (("export",), "pg_dump"), (("import", "-"), "pg_restore")):
            with self.subTest(words):
                code, said = run("db", *words, BATON_DB=NOBODY)
                self.assertEqual(code, 4)
                self.assertIn(tool, said)
                self.assertNotIn(SECRET, said)


@client.only_if(databases.ON_POSTGRES)
class Shown(unittest.TestCase):
    def setUp(self):
        self.server = harness.Server(["echo"], {"tokens": [{"caller": "op", "token": "op-token", "role": "operator"}]})
        self.addCleanup(self.server.discard)

    def give_password(self):
        """Writes the URL with the cluster's password to a file. Returns the password."""
        password = pathlib.Path(os.environ["PGPASSFILE"]).read_text(encoding="ascii").strip().rsplit(":", 1)[1]
        file = self.server.folder / "url"
        file.touch(mode=0o600)
        file.write_text(self.server.database.url.replace("@", f":{password}@") + "\n", encoding="ascii")
        words = self.server.database.words()[2:]
        self.server.database.words = lambda: ["--db-file", str(file), *words]
        return password

    def test_a_password_from_a_file_is_shown_nowhere(self):
        password = self.give_password()
        self.server.start()
        self.server.send("hello")
        self.assertIn(self.server.database.url.replace("@", ":***@"), self.server.log_text())
        shown = [self.server.http("GET", path, headers={"Authorization": "Bearer op-token"}).raw.decode()
                 for path in ("/readyz", "/metrics", "/operate/v1/overview", "/operate/v1/audit")]
        for text in (self.server.log_text(), *self.server.lines, *shown):
            self.assertNotIn(password, text)


if __name__ == "__main__":
    unittest.main()
