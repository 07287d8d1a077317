"""e2e/http_check.py - the checks of http.sh; prints a line for each

usage: http_check.py CUZK WORK_DIR MULT3_DIR BLS_DIR SNARKJS
SPDX-License-Identifier: MIT OR Apache-2.0
"""

import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.parse

CUZK, WORK, MULT3, BLS, SNARKJS = sys.argv[1:6]
BAD = os.path.join(os.path.dirname(os.path.dirname(MULT3)), "bad")
FLAG = os.path.join(WORK, "go")
READ = "reads"


def path(name):
    return os.path.join(WORK, name)


def content(name):
    with open(name, "rb") as f:
        return f.read()


def check(name, good, why=""):
    print(f"ok http: {name}" if good else f"FAIL http: {name}: {str(why)[:300]}".replace("\n", " "), flush=True)


class Daemon:
    """One run of the program; self.host, self.port are where it serves HTTP."""

    def __init__(self, more="", circuits="", listen='"127.0.0.1:0"'):
        script = f'cat >/dev/null; while [ ! -e {FLAG} ]; do sleep 0.02; done; cat {MULT3}/witness.wtns'
        with open(path("c.toml"), "w", encoding="utf-8") as f:
            f.write(f"""[daemon]
listen = "unix://{WORK}/rpc.sock"
status_listen = {listen}
drain_timeout = "1s"
{more}
[store]
url = "sqlite://{WORK}/store/jobs.db"
[circuits.mult3]
zkey = "{MULT3}/circuit.zkey"
r1cs = "{MULT3}/circuit.r1cs"
[circuits.bls]
zkey = "{BLS}/circuit.zkey"
[circuits.slow]
zkey = "{MULT3}/circuit.zkey"
witness_command = ["/bin/sh", "-c", "{script}"]
[circuits.broken]
zkey = "{MULT3}/circuit.zkey"
witness_command = ["/bin/sh", "-c", "cat >/dev/null; echo no signal named b >&2; exit 3"]
{circuits}""")
        with open(path("out"), "w", encoding="utf-8") as out, open(path("log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([CUZK, "serve", "--config", path("c.toml")], stdout=out, stderr=log)
        self.url = self.find()
        u = urllib.parse.urlparse(self.url)
        self.host, self.port, self.tls = u.hostname, u.port, u.scheme == "https"

    def find(self):
        for _ in range(2400):
            m = re.search(r"^panel: (\S+)$", content(path("out")).decode(), re.M)
            if m is not None:
                return m.group(1)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit("FAIL http: the daemon did not start: " + content(path("log")).decode()[-400:])

    def connect(self, timeout=300, context=None):
        if self.tls:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context or trusting())
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, target, body=None, headers=None, timeout=300):
        """status, headers, body"""
        c = self.connect(timeout)
        try:
            c.request(method, target, body, headers or {})
            r = c.getresponse()
            return r.status, r.headers, r.read()
        finally:
            c.close()

    def stop(self, sig=signal.SIGTERM, timeout=300):
        self.process.send_signal(sig)
        return self.process.wait(timeout)


def trusting():
    return ssl.create_default_context(cafile=path("cert.pem"))


def expect(d, name, status, text, *args, **more):
    """The answer has this status and contains this text."""
    got, headers, body = d.ask(*args, **more)
    check(name, got == status and text.encode() in body, f"{got} {body[:200]}")
    return headers, body


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def proving(d):
    wtns = content(f"{MULT3}/witness.wtns")
    _, body = expect(d, "a proof for a witness", 200, "publicSignals", "POST", "/v1/circuits/mult3/prove", wtns)
    doc = json.loads(body)
    for name, value in (("proof.json", doc["proof"]), ("public.json", doc["publicSignals"])):
        with open(path(name), "w", encoding="utf-8") as f:
            json.dump(value, f)
    done = run(CUZK, "verify", f"{MULT3}/verification_key.json", path("public.json"), path("proof.json"))
    check("it verifies", done.returncode == 0, done.stdout + done.stderr)
    headers, body = expect(d, "call data on request", 200, "calldata", "POST", "/v1/circuits/mult3/prove?calldata=1", wtns)
    doc = json.loads(body)
    with open(path("proof.json"), "w", encoding="utf-8") as f:
        json.dump(doc["proof"], f)
    if os.access(SNARKJS, os.X_OK):
        done = run(SNARKJS, "groth16", "verify", f"{MULT3}/verification_key.json", path("public.json"), path("proof.json"))
        check("snarkjs accepts it", "OK!" in done.stdout, done.stdout + done.stderr)
        done = run(SNARKJS, "zkey", "export", "soliditycalldata", path("public.json"), path("proof.json"))
        check("call data is what snarkjs exports", done.stdout.strip() == doc["calldata"], f"{done.stdout} {doc['calldata']}")
    else:
        print("SKIP http: snarkjs is not installed (tools/install_deps check-all)")
    check("the job's id is in a header", re.fullmatch(r"[0-9a-f-]{36}", headers["Cuzk-Job-Id"]) is not None, headers)
    expect(d, "a proof over BLS12-381", 200, "bls12381", "POST", "/v1/circuits/bls/prove", content(f"{BLS}/witness.wtns"))
    expect(d, "its call data is refused with the reason", 400, "bn128", "POST", "/v1/circuits/bls/prove?calldata=1",
           content(f"{BLS}/witness.wtns"))


def refusals(d):
    wtns = content(f"{MULT3}/witness.wtns")
    prove = "/v1/circuits/mult3/prove"
    expect(d, "an unsatisfied witness: 422 and the row", 422, '"class":"unsatisfied"', "POST", prove,
           content(f"{BAD}/bn128-wtns-unsatisfied.wtns"))
    for name in ("magic", "truncated", "trailing", "unknown-prime"):
        expect(d, f"a bad witness ({name}): 400", 400, '"error"', "POST", prove, content(f"{BAD}/bn128-wtns-{name}.wtns"))
    expect(d, "a witness of another circuit: 400", 400, '"error"', "POST", prove, content(f"{BLS}/witness.wtns"))
    expect(d, "no body: 400", 400, "empty", "POST", prove, b"")
    expect(d, "an unknown circuit: 404", 404, "nothing", "POST", "/v1/circuits/nothing/prove", wtns)
    expect(d, "input.json without a command: 400", 400, "witness_command", "POST", prove, b'{"a":1}',
           {"Content-Type": "application/json"})
    expect(d, "a command that fails: its words", 400, "no signal named b", "POST", "/v1/circuits/broken/prove", b"{}",
           {"Content-Type": "application/json"})
    expect(d, "an unknown job: 404", 404, "error", "GET", "/v1/jobs/nobody")
    expect(d, "an unknown job's document: 404", 404, "error", "GET", "/jobs/nobody")
    expect(d, "another method: 405", 405, "POST", "GET", prove)
    expect(d, "an unknown path: 404", 404, "nothing is here", "GET", "/statuses")
    expect(d, "another site's page: 403", 403, "other sites", "POST", prove, wtns, {"Origin": "http://evil.example"})
    status, headers, _ = d.ask("GET", "/status", headers={"Origin": "http://evil.example"})
    check("its reads are not allowed to it", status == 200 and "Access-Control-Allow-Origin" not in headers, headers)


def jobs(d):
    wtns = content(f"{MULT3}/witness.wtns")
    key = {"Idempotency-Key": "a key, with [brackets] / and ä".encode().decode("latin-1")}
    quoted = urllib.parse.quote("a key, with [brackets] / and ä", safe="")
    headers, body = expect(d, "later: 202", 202, '"queue_position"', "POST", "/v1/circuits/mult3/prove?async=1", wtns, key)
    check("and where to ask", headers["Location"] == f"/v1/jobs/{quoted}", headers["Location"])
    _, body = expect(d, "its job, waited for", 200, '"state":"completed"', "GET", f"/v1/jobs/{quoted}?wait=30")
    first = json.loads(body)["proof"]
    times = json.loads(body)["times"]
    check("its times add up", sum(v for k, v in times.items() if k != "total_ms") in range(times["total_ms"] - 8, times["total_ms"] + 9), times)
    _, body = expect(d, "the same again: the same proof", 200, "pi_a", "POST", "/v1/circuits/mult3/prove", wtns, key)
    check("not a new one", json.loads(body)["proof"] == first)
    headers, body = expect(d, "the same key, another payload: another job", 200, "bls12381", "POST", "/v1/circuits/bls/prove",
                           content(f"{BLS}/witness.wtns"), key)
    check("under an id of its own", headers["Cuzk-Job-Id"] != quoted, headers["Cuzk-Job-Id"])
    doc = json.loads(expect(d, "its document", 200, '"attribution"', "GET", f"/jobs/{quoted}")[1])
    check("with its partition", doc["partitions"][0]["state"] == "done", doc)
    trace = json.loads(expect(d, "its trace", 200, "traceEvents", "GET", f"/trace?job={quoted}")[1])
    check("with spans", len(trace["traceEvents"]) > 5, len(trace["traceEvents"]))
    said = trace["otherData"]
    check("it says what a bound left out", said["left_out"] == 0 and said["limit_bytes"] == 64 << 20, said)
    trace = json.loads(expect(d, "a trace of at most 1 MiB", 200, "traceEvents", "GET", "/trace?seconds=60&limit_mib=1")[1])
    check("by its parameter", trace["otherData"]["limit_bytes"] == 1 << 20, trace["otherData"])


def threads_of(d):
    return int(re.search(r"^Threads:\s*(\d+)", content(f"/proc/{d.process.pid}/status").decode(), re.M).group(1))


def begin(d, key):
    """A prove whose witness command waits for the flag; its connection."""
    c = d.connect()
    c.request("POST", "/v1/circuits/slow/prove", b"{}", {"Content-Type": "application/json", "Idempotency-Key": key})
    return c


def state_of(d, key):
    return json.loads(d.ask("GET", f"/v1/jobs/{key}")[2]).get("state")


def wait_for(fn, what):
    end = time.time() + 120
    while not fn():
        if time.time() > end:
            raise RuntimeError(f"waited in vain: {what}")
        time.sleep(0.02)


def waiting(d):
    before = threads_of(d)
    conns = [begin(d, f"w{i}") for i in range(200)]
    wait_for(lambda: state_of(d, "w199") is not None, "200 jobs")
    check("200 wait and hold no thread", threads_of(d) <= before + 2, f"{before} -> {threads_of(d)}")
    times = sorted(timed(lambda: d.ask("GET", "/status")) for _ in range(20))
    check("/status answers meanwhile", times[5] < 0.25, f"{times}")  # a machine that stalls now and then is allowed for
    status, _, body = d.ask("POST", "/v1/jobs/w7/cancel")
    check("the panel's cancel", status == 200 and b"w7" in body, body)
    r = conns[7].getresponse()
    check("who waits for it hears so", r.status == 409 and b"cancelled" in r.read(), r.status)
    conns[8].close()  # a client that leaves; its job goes on
    status, _, body = d.ask("DELETE", "/v1/jobs/w9")
    check("DELETE cancels too", status == 200, body)
    open(FLAG, "w", encoding="utf-8").close()
    codes = {}
    for i, c in enumerate(conns):
        if i not in (7, 8):
            r = c.getresponse()
            codes.setdefault(r.status, []).append((i, r.read()))
    check("all others get their proofs", len(codes.get(200, [])) == 197 and [i for i, _ in codes.get(409, [])] == [9],
          {k: len(v) for k, v in codes.items()})
    wait_for(lambda: state_of(d, "w8") == "completed", "the job of the client that left")
    check("the job of a client that left is done", True)
    os.remove(FLAG)
    wait_for(lambda: b"\ncuzk_http_requests_active 0\n" in d.ask("GET", "/metrics")[2], "nothing active")
    check("nothing is held when all is done", b"\ncuzk_http_inflight_bytes 0\n" in d.ask("GET", "/metrics")[2])


def timed(fn):
    start = time.time()
    fn()
    return time.time() - start


def documents(d):
    expect(d, "/healthz", 200, "ok", "GET", "/healthz")
    expect(d, "/readyz", 200, "ready", "GET", "/readyz")
    doc = json.loads(expect(d, "/status", 200, "pipelines", "GET", "/status")[1])
    for key in ("uptime_secs", "memory", "synthesis", "pipelines", "gpu_workers", "allocations", "counters", "buffers"):
        check(f"/status has {key}", key in doc)
    for name in ("cuzk_proofs_completed_total", "cuzk_queue_depth", "cuzk_proof_duration_seconds_bucket", "cuzk_http_requests_total"):
        expect(d, f"/metrics has {name}", 200, name, "GET", "/metrics")
    doc = json.loads(expect(d, "/timeline", 200, "step_ms", "GET", "/timeline?since=0")[1])
    check("with tracks", len(doc["tracks"]) > 3, len(doc["tracks"]))
    expect(d, "/v1/circuits", 200, '"name":"mult3"', "GET", "/v1/circuits")
    c = d.connect(120)
    c.request("GET", "/events")
    r = c.getresponse()
    check("/events", r.status == 200 and r.headers["Content-Type"] == "text/event-stream", r.headers)
    d.ask("POST", "/v1/circuits/mult3/prove", content(f"{MULT3}/witness.wtns"), {"Idempotency-Key": "seen"})
    kinds = set()
    while not ("job", "completed") in kinds:
        line = r.readline().decode()
        if line.startswith("data: "):
            e = json.loads(line[6:])
            kinds.add((e["type"], e.get("state")))
    check("with jobs and partitions", ("partition", "done") in kinds, kinds)
    c.close()
    slow = sorted(timed(lambda: d.ask("GET", "/status")) for _ in range(50))[25]
    check("/status in a few milliseconds", slow < 0.02, f"{slow * 1000:.2f} ms at the median")


def limits():
    d = Daemon('max_message = "64KiB"\nmax_requests = 3\ncors_origins = ["https://panel.example"]\n'
               'host_names = ["cuzk.example"]')
    _, headers, _ = d.ask("GET", "/status", headers={"Origin": "https://panel.example"})
    check("a configured origin may read", headers["Access-Control-Allow-Origin"] == "https://panel.example", headers)
    _, headers, _ = d.ask("GET", "/status", headers={"Origin": "https://panel.example.evil"})
    check("one that only begins like it may not", "Access-Control-Allow-Origin" not in headers, headers)
    expect(d, "by a name that is not its own: 421", 421, "daemon.host_names", "GET", "/status", headers={"Host": "evil.example"})
    expect(d, "by the name of a configured origin", 200, "pipelines", "GET", "/status", headers={"Host": "panel.example"})
    expect(d, "by a configured name", 200, "pipelines", "GET", "/status", headers={"Host": "cuzk.example:80"})
    expect(d, "health by any", 200, "ok", "GET", "/healthz", headers={"Host": "evil.example"})
    expect(d, "a body too large: 413 and the limit", 413, "65536", "POST", "/v1/circuits/mult3/prove", bytes(65537))
    c = d.connect()
    c.request("POST", "/v1/circuits/mult3/prove", (bytes(1000) for _ in range(200)), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    r = c.getresponse()
    check("in chunks too", r.status == 413, r.status)
    conns = [begin(d, f"l{i}") for i in range(3)]
    wait_for(lambda: b"cuzk_http_requests_active 3\n" in d.ask("GET", "/metrics")[2], "three that wait")
    headers, _ = expect(d, "too many at a time: 429", 429, "daemon.max_requests", "POST", "/v1/circuits/mult3/prove", b"x")
    check("with Retry-After", headers["Retry-After"] == "1", headers)
    for s in rubbish():
        with socket.create_connection((d.host, d.port), 10) as raw:
            raw.sendall(s)
    check("rubbish does not disturb it", d.ask("GET", "/status")[0] == 200)
    return d, conns


def rubbish():
    yield b"\x16\x03\x01\x00\x05hello"
    yield b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551616\r\n\r\n"
    yield b"POST /v1/circuits/mult3/prove HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield b"GET " + b"/a" * 40000 + b" HTTP/1.1\r\n\r\n"


def stopping(d, conns):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(c.getresponse) for c in conns]
        code = d.stop()
        got = [a.result() for a in answers]
    bodies = [r.read() for r in got]
    check("who waits when it stops: 503, the job is kept", all(r.status == 503 for r in got) and b"kept" in bodies[0],
          [r.status for r in got])
    check("it stops with 0", code == 0, code)
    open(FLAG, "w", encoding="utf-8").close()
    d = Daemon()
    wait_for(lambda: state_of(d, "l0") == "completed", "a job of the daemon before")
    check("its jobs go on after the restart", state_of(d, "l2") in ("queued", "running", "completed"))
    d.stop()


def certificate(name, host="127.0.0.1"):
    done = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
               "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{host}", "-keyout", path("key.pem"), "-out", path("cert.pem"))
    if done.returncode != 0:
        raise SystemExit("FAIL http: openssl: " + done.stderr[-200:])


def peer_name(d):
    c = d.connect()
    c.connect()
    name = dict(x[0] for x in c.sock.getpeercert()["subject"])["commonName"]
    c.close()
    return name


def owners(d):
    """Two tokens that may prove, and one that may operate too."""
    one, two, chief = ({"Authorization": f"Bearer {t}"} for t in ("first", "second", "chief"))
    wtns = content(f"{MULT3}/witness.wtns")
    d.ask("POST", "/v1/circuits/mult3/prove", wtns, {"Idempotency-Key": "mine", **one})
    expect(d, "a token's own job", 200, '"proof"', "GET", "/v1/jobs/mine", headers=one)
    expect(d, "another's is not there for it: 404", 404, "no job mine", "GET", "/v1/jobs/mine", headers=two)
    expect(d, "nor can it be cancelled: 404", 404, "no job mine", "DELETE", "/v1/jobs/mine", headers=two)
    expect(d, "who may operate sees it", 200, '"proof"', "GET", "/v1/jobs/mine", headers=chief)
    headers, _ = expect(d, "the same request by another token", 200, "publicSignals", "POST", "/v1/circuits/mult3/prove", wtns,
                        {"Idempotency-Key": "mine", **two})
    check("is another job", headers["Cuzk-Job-Id"] == "mine~2", headers)
    expect(d, "and that one's own", 200, '"proof"', "GET", "/v1/jobs/mine~2", headers=two)


def token_line(token, scopes):
    return f"{run('sh', '-c', f'printf %s {token} | sha256sum').stdout.split()[0]} {scopes}\n"


def tls():
    certificate("first")
    with open(path("tokens"), "w", encoding="utf-8") as f:
        f.write(token_line(READ, "read panel") + token_line("first", "prove one") + token_line("second", "prove two") +
                token_line("chief", "prove,operate chief"))
    d = Daemon(f'tls_cert = "{path("cert.pem")}"\ntls_key = "{path("key.pem")}"\ntokens_file = "{path("tokens")}"')
    check("https", d.url.startswith("https://"), d.url)
    expect(d, "over TLS", 200, "pipelines", "GET", "/status", headers={"Authorization": f"Bearer {READ}"})
    headers, _ = expect(d, "a wrong token: 401", 401, "not known", "GET", "/status", headers={"Authorization": "Bearer other"})
    check("with a challenge", headers["WWW-Authenticate"].startswith("Bearer"), headers)
    expect(d, "a token without the scope: 403", 403, "prove", "POST", "/v1/circuits/mult3/prove", b"x", {"Authorization": f"Bearer {READ}"})
    owners(d)
    expect(d, "the panel's page needs none", 200, "<title>cuzk", "GET", "/", headers={"Authorization": "Bearer other"})
    old = d.connect()
    old.request("GET", "/healthz")
    old.getresponse().read()
    check("the first certificate", peer_name(d) == "first")
    certificate("second")
    d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: reloaded(d), "the second certificate")
    check("SIGHUP: the second certificate", peer_name(d) == "second")
    old.request("GET", "/healthz")
    check("connections from before go on", old.getresponse().read() == b"ok\n")
    with open(path("key.pem"), "w", encoding="utf-8") as f:
        f.write("no key\n")
    d.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    check("a bad key is refused and the old one stays", peer_name(d) == "second")
    check("it stops with 0 (TLS)", d.stop() == 0)


def own_address():
    """An address of this machine besides loopback, or None; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
        except OSError:
            return None
        name = s.getsockname()[0]
    return None if name.startswith("127.") or name == "0.0.0.0" else name


def strangers(host):
    """Who comes from elsewhere: this machine by its other address."""
    token = {"Authorization": f"Bearer {READ}"}
    d = Daemon(listen=f'"{host}:0"')
    d.host = host
    expect(d, "from elsewhere without TLS: 403", 403, "plaintext_from", "GET", "/status")
    d.stop()
    d = Daemon(f'plaintext_from = ["{host}/32"]', listen=f'"{host}:0"')
    d.host = host
    expect(d, "from a listed network without TLS", 200, "pipelines", "GET", "/status")
    kept, stream = d.connect(), d.connect()
    kept.request("GET", "/status")
    kept.getresponse().read()
    stream.request("GET", "/events")
    events = stream.getresponse()
    text = content(path("c.toml")).decode()
    with open(path("c.toml"), "w", encoding="utf-8") as f:
        f.write(text.replace("plaintext_from", "#plaintext_from"))
    d.process.send_signal(signal.SIGHUP)
    while events.readline():  # until it ends: a client that waits in vain fails by its timeout
        pass
    check("taken off plaintext_from: its events end", True)
    kept.request("GET", "/status")
    r = kept.getresponse()
    check("and its connection serves nothing more: 403", r.status == 403 and b"plaintext_from" in r.read(), r.status)
    d.stop()
    certificate("daemon", host)
    files = f'tls_cert = "{path("cert.pem")}"\ntls_key = "{path("key.pem")}"\n'
    d = Daemon(files + f'tokens_file = "{path("tokens")}"', listen=f'"{host}:0"')
    d.host = host
    headers, _ = expect(d, "with TLS and no token: 401", 401, "token is needed", "GET", "/status")
    check("the challenge", headers["WWW-Authenticate"].startswith("Bearer"), headers)
    expect(d, "with TLS and a token", 200, "pipelines", "GET", "/status", headers=token)
    expect(d, "/healthz needs none", 200, "ok", "GET", "/healthz")
    d.stop()
    shutil.copy(path("cert.pem"), path("ca.pem"))  # it signs itself: good enough to be known by
    d = Daemon(files + f'tls_client_ca = "{path("ca.pem")}"', listen=f'"{host}:0"')
    d.host = host
    expect(d, "no client certificate where one is asked for: 403", 403, "client certificate", "GET", "/status")
    with_certificate = trusting()
    with_certificate.load_cert_chain(path("cert.pem"), path("key.pem"))
    c = d.connect(context=with_certificate)
    c.request("GET", "/status")
    r = c.getresponse()
    check("with a client certificate", r.status == 200, r.read())
    c.close()
    certificate("stranger", host)
    with_certificate = ssl.create_default_context(cafile=path("ca.pem"))
    with_certificate.load_cert_chain(path("cert.pem"), path("key.pem"))
    c = d.connect(context=with_certificate)
    c.request("GET", "/status")
    r = c.getresponse()
    check("with a certificate of somebody else: 403", r.status == 403, r.status)
    c.close()
    d.stop()


def reloaded(d):
    try:
        return peer_name(d) == "second"
    except (ssl.SSLError, OSError):
        return False


def main():
    d = Daemon()
    proving(d)
    refusals(d)
    jobs(d)
    documents(d)
    waiting(d)
    check("it stops with 0 when nothing runs", d.stop() == 0)
    shutil.rmtree(path("store"))
    d, conns = limits()
    stopping(d, conns)
    tls()
    if own_address() is not None:
        strangers(own_address())


main()
