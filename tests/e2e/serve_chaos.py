"""e2e/serve_chaos.py - a daemon under load is killed at random moments; nothing that it accepted is lost

usage: serve_chaos.py CUZK CIRCUIT_DIR WORK KILLS [SEED]

CIRCUIT_DIR has circuit.zkey, witness.wtns, verification_key.json. Two clients post jobs, some without waiting; each gets what the
contract promises: an accepted job completes, its result stays what it was when it was first told, and its proof verifies.
Prints lines `ok NAME` and `FAIL NAME: why`.
SPDX-License-Identifier: MIT OR Apache-2.0
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time


class Daemon:
    def __init__(self, cuzk, work, zkey):
        self.cuzk, self.work = cuzk, work
        self.config = os.path.join(work, "chaos.toml")
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(f'[daemon]\nlisten = "unix://{work}/chaos.sock"\nstatus_listen = "127.0.0.1:0"\n'
                    f'[store]\nurl = "sqlite://{work}/chaos/jobs.db"\n[circuits.c]\nzkey = "{zkey}"\n')
        self.process, self.port = None, 0
        self.log = open(os.path.join(work, "chaos.log"), "ab")

    def start(self):
        self.process = subprocess.Popen([self.cuzk, "serve", "--config", self.config], stdout=subprocess.PIPE, stderr=self.log,
                                        text=True)
        for line in self.process.stdout:
            if line.startswith("panel:"):
                self.port = int(line.rstrip("/\n").rsplit(":", 1)[1])
                return
        raise RuntimeError(f"the daemon ended with {self.process.wait()}")

    def end(self, sig):
        self.process.send_signal(sig)
        code = self.process.wait(timeout=300)
        self.process.stdout.close()
        return code


class Client(threading.Thread):
    """Posts jobs until told to stop; accepted[id]: what it was first told of it, None: nothing yet."""

    def __init__(self, daemon, name, witness, accepted, rng):
        super().__init__()
        self.daemon_, self.name_, self.witness, self.accepted, self.rng = daemon, name, witness, accepted, rng
        self.stop = False

    def run(self):
        i = 0
        while not self.stop:
            i += 1
            job, wait = f"{self.name_}-{i}", self.rng.random() < 0.3
            try:
                status, body = ask(self.daemon_.port, "POST", "/v1/circuits/c/prove" + ("" if wait else "?async=1"), self.witness,
                                   {"Idempotency-Key": job, "Content-Type": "application/octet-stream"})
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)  # it is being killed: whether this one was taken is not known
                continue
            if status == 202:
                self.accepted[job] = None
            elif status == 200:
                self.accepted[job] = json.loads(body)["proof"]
            time.sleep(0.003)


def ask(port, method, path, body=None, headers=None):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        return r.status, r.read()
    finally:
        c.close()


def wait_all(daemon, accepted, seconds):
    """Ids that do not complete, and ids whose proof is not the one that was told before."""
    end, lost, other = time.monotonic() + seconds, [], []
    for job, told in accepted.items():
        while True:
            status, body = ask(daemon.port, "GET", "/v1/jobs/" + job)
            doc = json.loads(body) if status == 200 else {}
            if doc.get("state") == "completed" or time.monotonic() > end or doc.get("state") in ("failed", "cancelled"):
                break
            time.sleep(0.02)
        if doc.get("state") != "completed":
            lost.append(f"{job} is {doc.get('state', status)}")
        elif "proof" not in doc:
            lost.append(f"{job}: {doc}")
        elif told is not None and told != doc["proof"]:
            other.append(job)
        else:
            accepted[job] = doc["proof"]
            accepted[job, "public"] = doc["publicSignals"]
    return lost, other


def verdict(name, problems):
    print(f"FAIL {name}: {problems[:5]}" if problems else f"ok {name}", flush=True)


def verify(cuzk, work, vk, accepted, sample):
    bad = []
    for job in sample:
        for name, value in (("p.json", accepted[job]), ("s.json", accepted[job, "public"])):
            with open(os.path.join(work, name), "w", encoding="utf-8") as f:
                json.dump(value, f)
        code = subprocess.run([cuzk, "verify", vk, os.path.join(work, "s.json"), os.path.join(work, "p.json")],
                              stdout=subprocess.DEVNULL, check=False).returncode
        if code != 0:
            bad.append(f"{job}: exit {code}")
    return bad


class Told(dict):
    """Only ids are walked; what belongs to one lies beside it."""

    def items(self):
        return [(k, v) for k, v in list(super().items()) if isinstance(k, str)]


def main():
    cuzk, circuit, work, kills = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with open(os.path.join(circuit, "witness.wtns"), "rb") as f:
        witness = f.read()
    daemon = Daemon(cuzk, work, os.path.join(circuit, "circuit.zkey"))
    accepted = Told()
    daemon.start()
    clients = [Client(daemon, f"c{k}", witness, accepted, random.Random(seed + k)) for k in range(2)]
    for c in clients:
        c.start()
    other = []
    try:
        for k in range(kills):
            time.sleep(rng.random() * 0.6)
            daemon.end(signal.SIGKILL)
            daemon.start()
            if k % 5 == 4:  # what was told before the kill is still told after it
                told = Told({j: p for j, p in accepted.items() if p is not None})
                other += wait_all(daemon, told, 300)[1]
    finally:
        for c in clients:
            c.stop = True
        for c in clients:
            c.join()
    lost, more = wait_all(daemon, accepted, 600)
    jobs = [j for j, _ in accepted.items()]
    verdict(f"no accepted job is lost ({kills} kills, {len(jobs)} jobs)", lost if jobs else ["no job was accepted"])
    verdict("none is proved again after it was told", other + more)
    if not lost:
        sample = rng.sample(jobs, min(len(jobs), 50))
        verdict("proofs verify", verify(cuzk, work, os.path.join(circuit, "verification_key.json"), accepted, sample))
    code = daemon.end(signal.SIGTERM)
    verdict("SIGTERM ends with 0", [] if code == 0 else [code])


main()
