"""A disk in memory that can be full."""
import ctypes
import os
import subprocess

CLONE_NEWNS = 0x00020000
SIZE = 4 << 30  # nothing is taken before it is used
PAGE = 4096


class NotAllowed(Exception):
    """Disks may not be mounted here."""


def leave_namespace():
    """What this process mounts from now on nobody else sees, and goes with it and its children."""
    if os.getuid() != 0:
        raise NotAllowed("only root can mount a disk for the database")
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        raise NotAllowed("a namespace for mounts is not allowed here")
    run("mount", "--make-rprivate", "/")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise NotAllowed(f"{' '.join(map(str, command))}: {done.stdout.strip()}")


class SmallDisk:
    def __init__(self, folder, owner):
        self.folder = folder
        folder.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700,uid={owner.pw_uid},gid={owner.pw_gid}", "disk", folder)

    def fill(self):
        """There is no room from now on."""
        while True:
            there = os.statvfs(self.folder)
            try:
                return self.resize((there.f_blocks - there.f_bfree) * there.f_frsize)
            except NotAllowed:
                if os.statvfs(self.folder).f_bfree == there.f_bfree:
                    raise  # it has not been written to meanwhile

    def free(self):
        self.resize(SIZE)

    def remove(self):
        run("umount", self.folder)

    def resize(self, size):
        run("mount", "-o", f"remount,size={max(size, PAGE)}", self.folder)
