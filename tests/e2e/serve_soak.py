"""e2e/serve_soak.py - many jobs of all kinds, mixed; afterwards the daemon is as it was before

usage: serve_soak.py CUZK FIXTURES CIRCUIT_DIR KEYS WORK JOBS POREPS UPDATES [SEED]

FIXTURES is the folder filecoin/2kib; KEYS has keys of the four kinds at 2 KiB. One job of each kind warms up; then JOBS more are
handed in from two clients while some are cancelled and some asked for twice. When all have ended: every one completed or was
cancelled, memory and file descriptors are what they were, all gauges are at rest, and 99% of all time has a name.
Prints lines `ok NAME` and `FAIL NAME: why`.
SPDX-License-Identifier: MIT OR Apache-2.0
"""

import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time


class Daemon:
    def __init__(self, cuzk, work, keys, circuit):
        self.cuzk, self.address = cuzk, f"unix://{work}/soak.sock"
        config = os.path.join(work, "soak.toml")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f'[daemon]\nlisten = "{self.address}"\nstatus_listen = "127.0.0.1:0"\n'
                    f'[store]\nurl = "sqlite://{work}/soak/jobs.db"\n[srs]\nparam_cache = "{keys}"\n'
                    f'[circuits.c]\nzkey = "{circuit}/circuit.zkey"\n')
        log = open(os.path.join(work, "soak.log"), "ab")
        self.process = subprocess.Popen([cuzk, "serve", "--config", config], stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.startswith("panel:"):
                self.port = int(line.rstrip("/\n").rsplit(":", 1)[1])
                return
        raise RuntimeError(f"the daemon ended with {self.process.wait()}")

    def get(self, path):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        c.request("GET", path)
        body = c.getresponse().read().decode()
        c.close()
        return body

    def status(self):
        return json.loads(self.get("/status"))

    def anonymous_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"^RssAnon:\s*(\d+) kB", f.read(), re.M).group(1)) * 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cli(self, *arguments):
        return subprocess.run([self.cuzk, *arguments, "--address", self.address], capture_output=True, text=True, check=False,
                              timeout=600)


class Jobs:
    """What is handed in, by kind."""

    def __init__(self, fixtures, circuit):
        f = fixtures
        self.arguments = {
            "porep": ["--kind", "porep", "--input", f"{f}/porep-v1_1/c1-wrapped.json", "--statement", f"{f}/porep-v1_1/statement.json"],
            "update": ["--kind", "update", "--input", f"{f}/update/partition-0.bin", "--statement", f"{f}/update/statement.json"],
            "window": ["--kind", "window", "--input", *(f"{f}/window-v1_1/vanilla-{i}.bin" for i in range(3)), "--statement",
                       f"{f}/window-v1_1/statement.json"],
            "winning": ["--kind", "winning", "--input", f"{f}/winning/vanilla-0.bin", "--statement", f"{f}/winning/statement.json"],
            "circom": ["--circuit", "c", "--input", f"{circuit}/witness.wtns"],
        }


def client(daemon, jobs, todo, lock, problems, rng):
    while True:
        with lock:
            if not todo:
                return
            name, kind = todo.pop()
        for _ in range(2 if rng.random() < 0.1 else 1):  # the same again is the same job
            out = daemon.cli("submit", "--async", "--request-id", name, *jobs.arguments[kind])
            if out.returncode != 0 or out.stdout.strip() != name:
                problems.append(f"{name}: {out.stdout.strip()} {out.stderr.strip()}")
        if kind == "circom" and rng.random() < 0.05:
            daemon.cli("cancel", name)


def wait_until_idle(daemon, limit_s):
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        s = daemon.status()
        if not any(j["state"] in ("queued", "running") for j in s["pipelines"]) and not s["queues"]:
            time.sleep(1.5)
            return daemon.status()
        time.sleep(0.2)
    return None


def report(name, good, why=""):
    print(f"ok {name}" if good else f"FAIL {name}: {why}", flush=True)


def owner(s, name):
    return sum(o["bytes"] for o in s["ledger"]["owners"] if o["name"] == name)


def settled(measure, limit):
    """The measure once it is within its limit, or after two minutes: connections close, freed memory goes back."""
    for _ in range(600):
        if measure() <= limit:
            break
        time.sleep(0.2)
    return measure()


def check_rest(daemon, s, before, n):
    """The gauges, and what the process has, against what it was before."""
    busy = [f"{x['name']} {x['waiting']}/{x['active']}" for x in s["stages"] if x["waiting"] or x["active"]]
    held = [f"{o['name']} {o['bytes']}" for o in s["ledger"]["owners"] if o["bytes"] and o["name"] not in ("keys", "spans")]
    report("every stage is at rest", not busy, busy)
    report("no memory is reserved", not held, held)
    report("the buffers are empty", not any(s["buffers"].values()), s["buffers"])
    # Beside it: spans fill their store to its bound, ended jobs are remembered, and the heap of a small process has its fragments.
    spans, limit = owner(s, "spans") - before[2], int(before[0] * 1.02) + (8 << 20) + min(n, 1000) * 8192
    memory = settled(lambda: daemon.anonymous_bytes() - spans, limit)
    descriptors = settled(daemon.descriptors, before[1])
    report("memory is what it was: within 2%, 8 MiB of heap and 8 KiB for each of the jobs in memory (1,000 at most)", memory <= limit,
           f"{memory >> 10} KiB, before {before[0] >> 10} KiB")
    report("file descriptors are what they were", descriptors <= before[1], f"{descriptors}, before {before[1]}")
    print(f"# {memory >> 10} KiB, before {before[0] >> 10} KiB; {descriptors} descriptors", flush=True)


def check_time(s):
    coverage = s["coverage"]
    report("99% of the jobs' time has a name", coverage["jobs_percent"] >= 99, coverage)
    report("99% of the workers' time has a name", coverage["workers_percent"] >= 99, coverage)
    print(f"# coverage {coverage}, longest step {s['safe_point_max_ms']} ms, latency {s['latency']}", flush=True)


def main():
    cuzk, fixtures, circuit, keys, work = sys.argv[1:6]
    n, poreps, updates = (int(a) for a in sys.argv[6:9])
    seed = int(sys.argv[9]) if len(sys.argv) > 9 else random.randrange(1 << 32)
    rng = random.Random(seed)
    print(f"# seed {seed}", flush=True)
    daemon, jobs = Daemon(cuzk, work, keys, circuit), Jobs(fixtures, circuit)
    for kind in jobs.arguments:
        out = daemon.cli("submit", "--request-id", f"warm-{kind}", *jobs.arguments[kind])
        report(f"a {kind} job is proved", out.returncode == 0, out.stderr.strip())
    time.sleep(1.5)
    before = daemon.anonymous_bytes(), daemon.descriptors(), owner(daemon.status(), "spans")

    kinds = ["porep"] * poreps + ["update"] * updates
    kinds += [rng.choice(("window", "winning", "circom", "circom", "circom")) for _ in range(n - len(kinds))]
    rng.shuffle(kinds)
    todo, lock, problems = [(f"soak-{i}", kind) for i, kind in enumerate(kinds)], threading.Lock(), []
    clients = [threading.Thread(target=client, args=(daemon, jobs, todo, lock, problems, random.Random(seed + k))) for k in range(2)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    s = wait_until_idle(daemon, 60 + 60 * poreps + 40 * updates + 5 * n)
    report("every request was taken, under its id", not problems, problems[:3])
    report("the daemon comes to rest", s is not None)
    if s is not None:
        # the list has the latest thousand; the store answers for each by its name
        ended = {name: json.loads(daemon.get(f"/jobs/{name}")).get("state") for name in (f"soak-{i}" for i in range(n))}
        bad = [f"{name} {state}" for name, state in ended.items() if state not in ("completed", "cancelled")]
        report(f"all {n} jobs completed or were cancelled", not bad, bad[:3])
        check_rest(daemon, s, before, n)
        check_time(s)
    daemon.process.send_signal(signal.SIGTERM)
    report("SIGTERM ends it with 0", daemon.process.wait(timeout=300) == 0)


main()
