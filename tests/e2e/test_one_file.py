"""The program alone, in an empty folder: it carries what it makes and needs."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import client
import harness


class OneFile(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="baton-one-file-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.work, self.home = self.folder / "work", self.folder / "home"
        self.work.mkdir()
        self.home.mkdir()
        shutil.copy(harness.PROGRAM, self.work / "baton")
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "TMPDIR": str(self.folder), "LANG": "C.UTF-8"}

    def baton(self, *words):
        return subprocess.run(["./baton", *words], cwd=self.work, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def dev(self):
        """Starts `baton dev`. Returns the process, the URL and what it wrote to standard error until then."""
        log = self.folder / "log"
        with log.open("wb") as err:
            server = subprocess.Popen(["./baton", "dev", "--port", "0"], cwd=self.work, env=self.environment,
                                      stdout=subprocess.PIPE, stderr=err, text=True)
        self.addCleanup(self.end, server)
        line = next((line for line in server.stdout if "listening on " in line), "")
        self.assertIn("http", line, log.read_text(encoding="utf-8"))
        return server, re.search(r"http\S+", line)[0], log.read_text(encoding="utf-8")

    def end(self, server):
        server.send_signal(signal.SIGTERM)
        server.wait(client.scaled())
        server.stdout.close()

    def shipped(self):
        (folder,) = (self.home / ".cache/baton").iterdir()
        return folder

    def test_an_agent_is_made_tested_and_served_without_any_other_file(self):
        for words in (("init", "agents/x"), ("test", "agents/x")):
            done = self.baton(*words)
            self.assertEqual(done.returncode, 0, done.stdout)
        _, url, said = self.dev()
        self.assertIn("agents/", said)
        self.assertIn(f"baton dev {self.shipped()}/agent-cards", said)
        sent = self.baton("send", "--url", url, "--agent", "x", "Hello")
        self.assertEqual(sent.returncode, 0, sent.stdout)

    def test_without_a_folder_the_shipped_agents_are_served_with_the_library_that_was_unpacked(self):
        _, url, said = self.dev()
        self.assertIn(f"{self.shipped()}/agent-cards", said)
        self.assertIn("baton init agents/mine, and start baton dev again", said)
        done = self.baton("send", "--url", url, "--agent", "tools", "Weather in Oslo?")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_without_a_home_a_private_folder_is_used_and_removed_at_the_end(self):
        del self.environment["HOME"]
        server, _, said = self.dev()
        place = pathlib.Path(re.search(r"\S+/baton-\w{6}", said)[0])
        self.assertEqual(place.stat().st_mode & 0o777, 0o700)
        self.end(server)
        self.assertFalse(place.exists())

    def test_a_cache_folder_that_leads_elsewhere_is_not_used(self):
        theirs = self.folder / "theirs"
        theirs.mkdir()
        (self.home / ".cache").mkdir()
        (self.home / ".cache/baton").symlink_to(theirs)
        _, _, said = self.dev()
        self.assertIn("is not a folder", said)
        self.assertEqual(list(theirs.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
