"""e2e/serve_faults.py - clients that take every descriptor of the daemon; it says so, keeps what it has promised, and recovers

usage: serve_faults.py CUZK CIRCUIT_DIR WORK

Prints lines `ok NAME` and `FAIL NAME: why`.
SPDX-License-Identifier: MIT OR Apache-2.0
"""

import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time

CUZK, CIRCUIT, WORK = sys.argv[1:4]
DESCRIPTORS = 160


def check(name, good, why=""):
    print(f"ok {name}" if good else f"FAIL {name}: {str(why)[:300]}".replace("\n", " "), flush=True)


def path(name):
    return os.path.join(WORK, name)


def log():
    with open(path("log"), "rb") as f:
        return f.read().decode(errors="replace")


def start():
    with open(path("c.toml"), "w", encoding="utf-8") as f:
        f.write(f'[daemon]\nlisten = "unix://{WORK}/rpc.sock"\nstatus_listen = "127.0.0.1:0"\n'
                f'[store]\nurl = "sqlite://{WORK}/jobs.db"\n[circuits.c]\nzkey = "{CIRCUIT}/circuit.zkey"\n')
    process = subprocess.Popen([CUZK, "serve", "--config", path("c.toml")], stdout=subprocess.PIPE, stderr=open(path("log"), "ab"),
                               text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)))
    for line in process.stdout:
        if line.startswith("panel:"):
            return process, int(line.rstrip("/\n").rsplit(":", 1)[1])
    raise SystemExit(f"FAIL serve_faults: the daemon ended with {process.wait()}: {log()[-300:]}")


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def ask(c, method, target, body=None, headers=None):
    c.request(method, target, body, headers or {})
    r = c.getresponse()
    return r.status, r.read()


def prove(c, job):
    with open(os.path.join(CIRCUIT, "witness.wtns"), "rb") as f:
        return ask(c, "POST", "/v1/circuits/c/prove", f.read(), {"Idempotency-Key": job})


def connect_all(make, n):
    """Whoever is let in; connections that are refused or reset do not count."""
    held = []
    for _ in range(n):
        s = make()
        s.settimeout(5)
        try:
            s.connect(TARGETS[make])
            held.append(s)
        except OSError:
            s.close()
    return held


def unix_socket():
    return socket.socket(socket.AF_UNIX)


def tcp_socket():
    return socket.socket(socket.AF_INET)


TARGETS = {}


def settled(measure, good, seconds=120):
    end = time.monotonic() + seconds
    while not good(measure()) and time.monotonic() < end:
        time.sleep(0.1)
    return measure()


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    process, port = start()
    TARGETS[unix_socket], TARGETS[tcp_socket] = path("rpc.sock"), ("127.0.0.1", port)
    inside = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    status, _ = prove(inside, "before")
    check("a proof before", status == 200, status)
    rest = settled(lambda: descriptors(process), lambda n: n < DESCRIPTORS // 2)
    for name, make, told in (("gRPC", unix_socket, "grpc_no_descriptors"), ("HTTP", tcp_socket, "no descriptors: connections leave")):
        held = connect_all(make, 3 * DESCRIPTORS)
        full = settled(lambda: descriptors(process), lambda n: n > DESCRIPTORS - 70)
        check(f"{name}: clients take all but what is left to files ({full} of {DESCRIPTORS})", DESCRIPTORS - 70 < full < DESCRIPTORS - 40, full)
        said = settled(log, lambda text, told=told: told in text)
        check(f"{name}: the daemon says so", told in said, said[-300:])
        status, body = prove(inside, f"beside {name}")
        check(f"{name}: a connection that was there is served, and its job stored and proved", status == 200 and b"pi_a" in body,
              f"{status} {body[:200]}")
        check(f"{name}: it lives", process.poll() is None)
        for s in held:
            s.close()
        left = settled(lambda: descriptors(process), lambda n: n <= rest)
        check(f"{name}: when they have gone, every descriptor is back", left <= rest, f"{left}, before {rest}")
        fresh = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        status, _ = prove(fresh, f"after {name}")
        fresh.close()
        check(f"{name}: and new clients are served", status == 200, status)
        out = subprocess.run([CUZK, "status", "--address", f"unix://{WORK}/rpc.sock"], capture_output=True, text=True, check=False)
        check(f"{name}: over gRPC too", out.returncode == 0, out.stderr)
    told = [json.loads(ask(inside, "GET", f"/v1/jobs/{j}")[1]).get("state")
            for j in ("before", "beside%20gRPC", "after%20gRPC", "beside%20HTTP", "after%20HTTP")]
    check("every job is there", told == ["completed"] * 5, told)
    failures = [x for x in json.loads(ask(inside, "GET", "/status")[1])["errors"]]
    check("no job failed for it", not failures, failures)
    inside.close()
    process.send_signal(signal.SIGTERM)
    check("SIGTERM ends it with 0", process.wait(timeout=300) == 0)


main()
