"""A disk in memory that can be filled."""
import ctypes
import os
import subprocess

CLONE_NEWNS = 0x00020000
SIZE = 4 << 30  # memory is allocated on first use
PAGE = 4096


class NotAllowed(Exception):
    """This machine does not allow mounting disks."""


def leave_namespace():
    """Moves to a new mount namespace: later mounts are visible only to this process and its children, and end with
    them."""
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
        """Leaves no room on the disk."""
        while True:
            there = os.statvfs(self.folder)
            try:
                return self.resize((there.f_blocks - there.f_bfree) * there.f_frsize)
            except NotAllowed:
                if os.statvfs(self.folder).f_bfree == there.f_bfree:
                    raise  # nothing was written meanwhile, so another try would fail, too

    def free(self):
        self.resize(SIZE)

    def remove(self):
        run("umount", self.folder)

    def resize(self, size):
        run("mount", "-o", f"remount,size={max(size, PAGE)}", self.folder)
