"""e2e/serve_poison.py - jobs that are at work when the daemon dies: suspected, run alone, cleared or given up

usage: serve_poison.py CUZK CIRCUIT_DIR WORK

The witness command of circuit `poison` kills the daemon that runs it, with the signal of a fault. That of `slow` goes on until the
file `go` is there. Prints lines `ok NAME` and `FAIL NAME: why`.
SPDX-License-Identifier: MIT OR Apache-2.0
"""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time

CUZK, CIRCUIT, WORK = sys.argv[1:4]
PATIENCE = 120  # a sanitizer on a busy machine


def path(name):
    return os.path.join(WORK, name)


def check(name, good, why=""):
    print(f"ok {name}" if good else f"FAIL {name}: {str(why)[-400:]}".replace("\n", " "), flush=True)


def log():
    with open(path("log"), "rb") as f:
        return f.read().decode(errors="replace")


def configure():
    commands = {"poison": "cat > /dev/null; kill -SEGV $PPID; sleep 60",
                "slow": f"cat > /dev/null; while [ ! -e {WORK}/go ]; do sleep 0.05; done; cat {CIRCUIT}/witness.wtns"}
    with open(path("c.toml"), "w", encoding="utf-8") as f:
        f.write(f'[daemon]\nlisten = "unix://{WORK}/rpc.sock"\nstatus_listen = "127.0.0.1:0"\n'
                f'[store]\nurl = "sqlite://{WORK}/jobs.db"\n[circuits.c]\nzkey = "{CIRCUIT}/circuit.zkey"\n')
        for name, script in commands.items():
            f.write(f'[circuits.{name}]\nzkey = "{CIRCUIT}/circuit.zkey"\nwitness_command = ["sh", "-c", "{script}"]\n')


class Daemon:
    def __init__(self):
        self.process = subprocess.Popen([CUZK, "serve", "--config", path("c.toml")], stdout=subprocess.PIPE,
                                        stderr=open(path("log"), "ab"), text=True)
        self.port = 0
        for line in self.process.stdout:
            if line.startswith("panel:"):
                self.port = int(line.rstrip("/\n").rsplit(":", 1)[1])
                break

    def ask(self, method, target, body=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            c.request(method, target, body, headers or {})
            r = c.getresponse()
            return r.status, r.read()
        finally:
            c.close()

    def submit(self, circuit, job):
        body, kind = b"{}", "application/json"
        if circuit == "c":
            kind = "application/octet-stream"
            with open(os.path.join(CIRCUIT, "witness.wtns"), "rb") as f:
                body = f.read()
        try:
            return self.ask("POST", f"/v1/circuits/{circuit}/prove?async=1", body,
                            {"Idempotency-Key": job, "Content-Type": kind})[0]
        except (OSError, http.client.HTTPException):
            return 0  # it died first

    def job(self, job):
        """As it is told; "gone": the daemon is."""
        try:
            status, body = self.ask("GET", "/v1/jobs/" + job)
        except (OSError, http.client.HTTPException):
            return {"state": "gone"}
        return json.loads(body) if status == 200 else {"state": status}

    def wait(self, job, states):
        end = time.monotonic() + PATIENCE
        while True:
            doc = self.job(job)
            if doc.get("state") in states or time.monotonic() > end or self.process.poll() is not None:
                return doc
            time.sleep(0.02)

    def metric(self, name):
        found = re.search(rf"^{name} (\S+)$", self.ask("GET", "/metrics")[1].decode(), re.M)
        return float(found.group(1)) if found else None

    def dies(self):
        """What it ends with by itself; None: it does not."""
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None
        self.process.stdout.close()
        return code

    def end(self, sig):
        self.process.send_signal(sig)
        return self.dies()


def poison():
    d = Daemon()
    d.submit("slow", "beside")
    d.wait("beside", ("running",))
    taken = d.submit("poison", "poison")
    check("the poison job is taken", taken in (202, 0), taken)
    codes = [d.dies()]
    d = Daemon()  # both are suspected: the elder is alone
    doc = d.wait("beside", ("running",))
    check("after a crash who was at work goes on", doc["state"] == "running", doc)
    d.submit("c", "later")
    states = set()
    for _ in range(25):
        states |= {d.job("later")["state"], d.job("poison")["state"]}
        time.sleep(0.02)
    check("nothing is beside a suspect", states == {"queued"}, states)
    check("and it is said", "crashed" in log() and "job_suspected" in log() and d.metric("cuzk_crashed_before") == 1, log())
    with open(path("go"), "w", encoding="ascii"):
        pass
    for _ in range(5):
        doc = d.wait("poison", ("failed",))
        if doc.get("state") == "failed":
            break
        codes.append(d.dies())
        d = Daemon()
    check("the third crash is its last", codes == [-signal.SIGSEGV] * 3 and doc["state"] == "failed", (codes, doc))
    message = str(doc.get("error"))
    check("it says why", "3 times" in message and "signal 11" in message, doc)
    for job in ("beside", "later"):
        doc = d.wait(job, ("completed", "failed", "cancelled"))
        check(f"{job} is proved", doc["state"] == "completed", doc)
    d.submit("c", "new")
    doc = d.wait("new", ("completed", "failed"))
    check("and the daemon goes on", doc["state"] == "completed", doc)
    check("the alarm is there", d.metric("cuzk_jobs_given_up_total") == 1 and "job_given_up" in log(), log())
    # sent again it is tried once more, alone
    d.submit("poison", "poison")
    code = d.dies()
    d = Daemon()
    doc = d.wait("poison", ("failed",))
    check("sent again it has one more life", code == -signal.SIGSEGV and doc["state"] == "failed", (code, doc))
    return d


def killed(d):
    """An operator's kill -9 is no fault of a job."""
    os.unlink(path("go"))
    d.submit("slow", "patient")
    for _ in range(5):
        d.wait("patient", ("running",))
        d.end(signal.SIGKILL)
        d = Daemon()
    doc = d.wait("patient", ("running",))
    check("killed five times, it goes on", doc["state"] == "running", doc)
    with open(path("go"), "w", encoding="ascii"):
        pass
    doc = d.wait("patient", ("completed", "failed"))
    check("and is proved", doc["state"] == "completed", doc)
    code = d.end(signal.SIGTERM)
    check("SIGTERM ends with 0", code == 0, code)
    d = Daemon()
    check("of which nothing is said at the next start", d.metric("cuzk_crashed_before") == 0, d.metric("cuzk_crashed_before"))
    d.end(signal.SIGTERM)


configure()
killed(poison())
