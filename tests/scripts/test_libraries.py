"""The packages of the libraries for agents are what pip and npm expect, with types."""
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Libraries(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="baton-libraries-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.make()

    def make(self):
        subprocess.run([ROOT / "scripts/package/libraries", self.folder], check=True, stdout=subprocess.DEVNULL)

    def made(self, pattern):
        (path,) = self.folder.glob(pattern)
        return path

    def test_a_program_imports_the_wheel_and_its_record_holds(self):
        wheel = self.made("baton_agent-*-py3-none-any.whl")
        said = subprocess.run([sys.executable, "-c", "import baton; print(baton.__file__)"], check=True, text=True,
                              stdout=subprocess.PIPE, env={"PYTHONPATH": str(wheel)}).stdout
        self.assertTrue(said.startswith(str(wheel)), said)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            self.assertIn("baton/py.typed", names)
            record = archive.read(next(name for name in names if name.endswith("/RECORD"))).decode().splitlines()
            self.assertEqual([line.split(",")[0] for line in record], names)
            for name, digest, size in (line.split(",") for line in record[:-1]):
                text = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
                self.assertEqual((f"sha256={found}", str(len(text))), (digest, size), name)

    def test_the_tarball_for_npm_has_the_module_its_types_and_the_version(self):
        with tarfile.open(self.made("baton-agent-*.tgz")) as archive:
            facts = json.load(archive.extractfile("package/package.json"))
            names = archive.getnames()
        self.assertEqual(facts["name"], "baton")
        self.assertIn(f"project(baton VERSION {facts['version']} ", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
        for file in (facts["main"], facts["types"]):
            self.assertIn(f"package/{file}", names)

    def test_the_same_sources_give_the_same_bytes(self):
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.make()
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)


if __name__ == "__main__":
    unittest.main()
