"""Builds the small libraries of preload/, which are loaded before the C library of a program under test."""
import os
import pathlib
import subprocess

import harness

HERE = pathlib.Path(__file__).resolve().parent / "preload"


def build(name, folder):
    """Builds the library in the folder. Returns its path."""
    library = pathlib.Path(folder) / f"lib{name}.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, HERE / f"{name}.c",
                    "-ldl", "-pthread"], check=True)
    return library


class Server(harness.Server):
    """The program with a library loaded before the C library, and variables for it."""

    def __init__(self, library, variables, *args, **how):
        super().__init__(*args, **how)
        self.library, self.variables = library, variables

    def start(self):
        os.environ.update(self.variables)
        os.environ["LD_PRELOAD"] = str(self.library)
        sanitizer = os.environ.get("ASAN_OPTIONS")
        if sanitizer is not None:
            os.environ["ASAN_OPTIONS"] = sanitizer + ":verify_asan_link_order=0"
        try:
            return super().start()
        finally:
            for name in ("LD_PRELOAD", *self.variables):
                os.environ.pop(name)
            if sanitizer is not None:
                os.environ["ASAN_OPTIONS"] = sanitizer
