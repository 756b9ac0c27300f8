"""The conditions of the figures: the machine, its disk, and the versions of its software."""
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import time


def flush_ms(folder, count=200):
    """Returns the median and the 99th percentile of the time to write 4 KiB and flush it to the disk."""
    path = pathlib.Path(folder) / "flush"
    times = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(count):
            began = time.perf_counter()
            file.write(os.urandom(4096))
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    path.unlink()
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.99)]


def first_line(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return (run.stdout or run.stderr).splitlines()[0].strip()
    except (OSError, IndexError):
        return "unknown"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def memory_gib():
    total = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").split("MemTotal:")[1].split()[0]
    return int(total) / (1 << 20)


def package_version(places, name):
    """Returns the version of an npm package in the lock file."""
    installed = json.loads((places.bench / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return installed[f"node_modules/{name}"]["version"]


def facts(places):
    """Returns the conditions as lines of text."""
    p50, p99 = flush_ms(places.work)
    commit = first_line("git", "-C", str(places.root), "describe", "--always", "--dirty", "--abbrev=10")
    commit = "unknown" if commit.startswith("fatal") else commit
    load = os.getloadavg()[0]
    return [
        f"{datetime.datetime.now().astimezone().isoformat(timespec='minutes')}, commit {commit}",
        f"{os.cpu_count()} cores of {processor()}, {memory_gib():.0f} GiB, {platform.system()} {platform.release()}, "
        f"load {load:.1f} when it began",
        f"disk: 4 KiB are written and flushed in {p50:.3f} ms (median), {p99:.3f} ms (99 of 100)",
        f"Baton {first_line(str(places.baton), '--version')}, {first_line('g++', '--version')}, "
        f"Node.js {first_line('node', '--version')}, express {package_version(places, 'express')}, "
        f"@a2a-js/sdk {package_version(places, 'a2a-sdk-10')} and {package_version(places, 'a2a-sdk-03')}, "
        f"{first_line('/usr/bin/python3', '--version')}, {first_line('wrk', '-v').split(' [')[0]}",
    ]
