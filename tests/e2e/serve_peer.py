"""e2e/serve_peer.py - the other side of the daemon for serve.sh: an HTTP client, and a service manager

usage: serve_peer.py get URL                     prints the status and the body
       serve_peer.py post URL FILE [KEY]         the same; KEY: the Idempotency-Key
       serve_peer.py done URL STATE SECONDS      waits until the job's state is STATE
       serve_peer.py flood URL FILE PREFIX N     posts N jobs PREFIX-i without waiting; prints the ids that were accepted
       serve_peer.py all URL STATE SECONDS       done for the ids on stdin (URL ends with /v1/jobs/)
       serve_peer.py manager SOCKET LOG          writes each notification as a line, until it is killed
SPDX-License-Identifier: MIT OR Apache-2.0
"""

import json
import socket
import sys
import time
import urllib.error
import urllib.request


def ask(url, data=None, headers=None):
    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=120) as r:
            return r.status, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()
    except (urllib.error.URLError, ConnectionError, TimeoutError) as e:
        return 0, str(e)


def wait_for(url, state, seconds):
    end = time.monotonic() + seconds
    last = ""
    while time.monotonic() < end:
        status, last = ask(url)
        if status == 200 and json.loads(last).get("state") == state:
            return 0
        time.sleep(0.05)
    print(f"not {state} after {seconds} s: {last[:300]}")
    return 1


def flood(url, path, prefix, n):
    with open(path, "rb") as f:
        data = f.read()
    for i in range(n):
        job = f"{prefix}-{i}"
        status, _ = ask(url + "?async=1", data, {"Content-Type": "application/octet-stream", "Idempotency-Key": job})
        if status != 202:
            return
        print(job, flush=True)


def manager(path, log):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(path)
    with open(log, "w", encoding="utf-8") as f:
        while True:
            f.write(s.recv(4096).decode().replace("\n", " ") + "\n")
            f.flush()


def main():
    what, url, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "manager":
        manager(url, rest[0])
    if what == "done":
        return wait_for(url, rest[0], float(rest[1]))
    if what == "flood":
        flood(url, rest[0], rest[1], int(rest[2]))
        return 0
    if what == "all":
        return max([wait_for(url + line.strip(), rest[0], float(rest[1])) for line in sys.stdin], default=0)
    data, headers = None, {}
    if what == "post":
        with open(rest[0], "rb") as f:
            data = f.read()
        headers["Content-Type"] = "application/octet-stream"
        if len(rest) > 1:
            headers["Idempotency-Key"] = rest[1]
    status, body = ask(url, data, headers)
    print(status, body)
    return 0


sys.exit(main())
