#!/usr/bin/env python3
"""e2e/aggregate_model.py - aggregates of the program against the Python model of the specification, by both provers and verifiers

usage: aggregate_model.py CUZK TOOLS FIXTURES PARAMS WORK MADE VERIFIED

TOOLS has check_aggregate.py; PARAMS the verifying key. MADE, VERIFIED: counts of proofs, separated by commas. Of each count in MADE the
model makes the aggregate too, and the bytes are compared; of each in either both verify it, and both find it false when one statement,
their order or the version is another. Odd counts are of version 1, even ones of version 2. Prints lines as tests/e2e/lib.inc does.

SPDX-License-Identifier: MIT OR Apache-2.0
"""
import json
import os
import subprocess
import sys
import time

CUZK, TOOLS, FIXTURES, PARAMS, WORK = sys.argv[1:6]
MADE, VERIFIED = ([int(n) for n in text.split(",") if n] for text in sys.argv[6:8])
sys.path.insert(0, TOOLS)
import check_aggregate as model  # noqa: E402  (where it is, the command line says)

SEAL = os.path.join(FIXTURES, "2kib", "porep-v1_1")
FILE_POWERS = 32  # of the fixture's SRS


def check(name, good, why=""):
    print(f"ok {name}" if good else f"FAIL {name}: {why}", flush=True)


def load(*path):
    with open(os.path.join(FIXTURES, *path), "rb") as f:
        return f.read()


def powers(padded):
    """The fixture's powers, or as many of two other secrets; and their file."""
    path = os.path.join(WORK, f"powers-{padded}.srs")
    if 2 * padded <= FILE_POWERS:
        path = os.path.join(FIXTURES, "2kib", "aggregate", "srs-16.srs")
        return model.read_srs(load("2kib", "aggregate", "srs-16.srs")), path
    few = model.read_srs(load("2kib", "aggregate", "srs-16.srs"))
    srs = []
    for start, secret in ((few[0][0], 3), (few[1][0], 5), (few[2][0], 3), (few[3][0], 5)):
        vector = [start]
        while len(vector) < 2 * padded:  # small secrets: their powers are reached by a few additions
            vector.append(model.mul(vector[-1], secret))
        srs.append(vector)
    with open(path, "wb") as f:
        f.write(model.write_srs(srs))
    return srs, path


class Case:
    """n proofs of one seal, made with different randomness, in turn; the last statement is changed for `wrong`."""

    def __init__(self, n, srs_path):
        statement = json.loads(load("2kib", "porep-v1_1", "statement.json"))
        self.n, self.version, self.srs_path = n, 2 - n % 2, srs_path
        self.files = [os.path.join(SEAL, ("proof-fixed-rs.bin", "proof.bin")[i % 2]) for i in range(n)]
        self.proofs = model.read_groth16(b"".join(load("2kib", "porep-v1_1", os.path.basename(f)) for f in self.files))
        self.inputs = model.inputs_of([a["public_inputs"] for a in statement["assignment"]]) * n
        self.t = model.T_seals([bytes.fromhex(statement["seed"])] * n, [bytes.fromhex(statement["comm_r"])] * n)
        self.out = os.path.join(WORK, f"{n}.bin")
        self.other = os.path.join(WORK, "other.json")
        statement["miner_id"] += 1  # is in the public inputs, not in T
        with open(self.other, "w", encoding="utf-8") as f:
            json.dump({k: v for k, v in statement.items() if k != "assignment"}, f)

    def run(self, command, *more, wrong=None):
        statements = [os.path.join(SEAL, "statement.json")] * self.n
        if wrong is not None:
            statements[wrong] = self.other
        return subprocess.run([CUZK, *command, "--statements", *statements, "--params", PARAMS, "--srs", self.srs_path, *more],
                              capture_output=True, text=True, check=False)

    def verdict(self, version, wrong=None):
        done = self.run(["verify", "--aggregate"], "--proof", self.out, "--aggregate-version", str(version), wrong=wrong)
        return {0: True, 1: False}.get(done.returncode, done.stderr.strip() or done.stdout.strip())


def one(n, vk, srs, srs_path, made):
    c, name, began = Case(n, srs_path), f"{n} proofs", time.time()
    done = c.run(["aggregate"], "--proofs", *c.files, "--aggregate-version", str(c.version), "-o", c.out)
    check(f"{name}, version {c.version}: aggregated and verified", done.returncode == 0, done.stderr.strip())
    if done.returncode != 0:
        return
    with open(c.out, "rb") as f:
        raw = f.read()
    if made:
        check(f"{name}: the model's bytes", model.write_proof(model.prove(srs, model.pad(c.proofs), c.t, c.version)) == raw)
    padded = model.pad(c.inputs)
    check(f"{name}: the model finds it true", model.outcome(srs, vk, padded, c.t, raw, c.version) is True)
    check(f"{name}: so does the program", c.verdict(c.version) is True, c.verdict(c.version))
    wrong = n // 2
    altered = [[(x + 1) % model.R for x in row] if i == wrong else row for i, row in enumerate(c.inputs)]
    check(f"{name}: another statement: false, by both", model.outcome(srs, vk, model.pad(altered), c.t, raw, c.version) is False and
          c.verdict(c.version, wrong) is False)
    check(f"{name}: as the other version: false, by both", model.outcome(srs, vk, padded, c.t, raw, 3 - c.version) is False and
          c.verdict(3 - c.version) is False)
    print(f"# {n}: {time.time() - began:.1f} s", flush=True)


def main():
    vk = model.read_vk(load("keys", "porep-2kib.vk"))
    padded, srs, path = 0, None, None
    for n in sorted(set(MADE + VERIFIED)):
        if model.target(n) > max(padded, FILE_POWERS // 2) or srs is None:
            padded = model.target(n)
            srs, path = powers(padded)
        one(n, vk, srs, path, n in MADE)


main()
