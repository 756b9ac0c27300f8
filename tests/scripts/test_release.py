"""A release is complete or leaves no files."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Releases(unittest.TestCase):
    """scripts/release in a repository of its own, with fakes for the slow scripts that it calls."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="baton-release-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("CMakeLists.txt", "CHANGELOG.md", ".gitignore", "src/app/version.h", "scripts/lib.sh", "scripts/release"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        self.script("scripts/test", 'echo "test $*" >>build/called; test ! -e build/fails')
        self.script("scripts/check", 'echo "check $*" >>build/called')
        self.script("scripts/package/build", """mkdir -p "$1"; v=$(sed -nE 's/^project.baton VERSION ([0-9.]+) .*/\\1/p' CMakeLists.txt)
touch "$1/baton_${v}_amd64.deb" "$1/baton-agents_${v}_all.deb\"""")
        self.script("scripts/package/tarball", """v=$(sed -nE 's/^project.baton VERSION ([0-9.]+) .*/\\1/p' CMakeLists.txt)
touch "$1/baton-$v-linux-$(uname -m).tar.gz\"""")
        self.script("scripts/package/libraries", 'touch "$1/baton.whl"')
        self.script("scripts/package/sbom", "echo '{}'")
        (self.folder / "build").mkdir()
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Begin")

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\nset -e\n{text}\n", encoding="ascii")
        path.chmod(0o755)

    def run_here(self, *command):
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.com"))}
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, **who})
        return done.returncode, done.stdout

    def git(self, *words):
        code, said = self.run_here("git", *words)
        self.assertEqual(code, 0, said)
        return said.strip()

    def release(self, *words):
        return self.run_here("scripts/release", *words)

    def called(self):
        return (self.folder / "build/called").read_text(encoding="ascii").splitlines()

    def test_a_release_is_tested_tagged_and_complete(self):
        code, said = self.release("7.0.0")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.called(), ["test --all"])
        self.assertEqual(self.git("tag", "--points-at", "HEAD"), "v7.0.0")
        self.assertEqual(self.git("log", "-1", "--format=%s"), "Release 7.0.0")
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertIn('kVersion = "7.0.0"', (self.folder / "src/app/version.h").read_text(encoding="utf-8"))
        changes = (self.folder / "CHANGELOG.md").read_text(encoding="utf-8")
        self.assertRegex(changes, r"(?m)^## 7\.0\.0 \(\d{4}-\d\d-\d\d\)$")
        self.assertNotIn("Nothing has been released yet", changes)
        folder = self.folder / "build/releases/7.0.0"
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["SHA256SUMS", f"baton-7.0.0-linux-{os.uname().machine}.cdx.json",
                          f"baton-7.0.0-linux-{os.uname().machine}.tar.gz", "baton-7.0.0.cdx.json",
                          "baton-7.0.0.tar.gz", "baton-agents_7.0.0_all.deb", "baton.whl", "baton_7.0.0_amd64.deb"])
        checked = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=False)
        self.assertEqual(checked.returncode, 0)
        inside = subprocess.run(["tar", "-xOzf", "baton-7.0.0.tar.gz", "baton-7.0.0/CMakeLists.txt"], cwd=folder,
                                stdout=subprocess.PIPE, text=True, check=False).stdout
        self.assertIn("project(baton VERSION 7.0.0 ", inside)

    def test_a_dry_run_changes_nothing(self):
        code, said = self.release("7.0.0", "--dry-run")
        self.assertEqual(code, 0, said)
        self.assertEqual((self.git("tag"), self.git("status", "--porcelain")), ("", ""))
        self.assertEqual(list((self.folder / "build").iterdir()), [])

    def test_a_failed_test_leaves_no_commit_and_no_tag_and_passed_ones_are_remembered(self):
        (self.folder / "build/fails").touch()
        self.assertNotEqual(self.release("7.0.0")[0], 0)
        self.assertEqual((self.git("log", "--format=%s"), self.git("tag")), ("Begin", ""))
        (self.folder / "build/fails").unlink()
        self.script("scripts/package/sbom", "exit 1")
        self.git("commit", "--quiet", "--all", "--message", "Break it")
        self.assertNotEqual(self.release("7.0.0")[0], 0)
        self.assertEqual(self.git("tag"), "")
        self.git("reset", "--quiet", "--hard", "HEAD~1")
        (self.folder / "build/called").unlink()
        self.assertNotEqual(self.release("7.0.0")[0], 0)
        self.assertFalse((self.folder / "build/called").exists())

    def test_what_cannot_be_released_is_refused_before_anything_is_done(self):
        (self.folder / "more").touch()
        cases = [("7.0.0", "not clean"), ("7.0", "usage"), ("0.0.1", "which is later"), ("7.0.0 --now", "usage")]
        for words, hint in cases:
            with self.subTest(words):
                code, said = self.release(*words.split())
                self.assertEqual((code, hint in said), (1, True), said)
        (self.folder / "more").unlink()
        self.git("tag", "v7.0.0")
        self.assertIn("There is a tag v7.0.0 already", self.release("7.0.0")[1])
        changes = (self.folder / "CHANGELOG.md")
        changes.write_text("# Changelog\n\n## Unreleased\n\n## 6.0.0\n\n- Something.\n", encoding="utf-8")
        self.git("commit", "--quiet", "--all", "--message", "Empty it")
        self.assertIn("has nothing under", self.release("8.0.0")[1])
        self.assertFalse((self.folder / "build/called").exists())


if __name__ == "__main__":
    unittest.main()
