// e2e/grpc_peer.js - what the clients on @grpc/grpc-js share: calls, and the requests that Curio sends
//
// Arguments of the program: ADDRESS PROTO_DIR WORK PART[,PART...]     (CUZK_JUDGES, CUZK_FIXTURES_2KIB, CUZK_MULT3 in the environment)
// Learns the messages from the server's reflection, not from our files. Prints one line a check, as tests/e2e/lib.inc does.
// SPDX-License-Identifier: MIT OR Apache-2.0
'use strict';
const fs = require('fs');
const modules = process.env.CUZK_JUDGES + '/node_modules/';
const grpc = require(modules + '@grpc/grpc-js');
const loader = require(modules + '@grpc/proto-loader');
const [address, protoDir, work, part] = process.argv.slice(2);
const fixtures = process.env.CUZK_FIXTURES_2KIB, mult3 = process.env.CUZK_MULT3;
const insecure = grpc.credentials.createInsecure();
const wide = {'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1};
const options = {keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true};
const sleep = ms => new Promise(r => setTimeout(r, ms));
const MiB = 1 << 20;

function check(name, condition, why) {
    console.log(condition ? `ok ${name}` : `FAIL ${name}: ${typeof why === 'string' ? why : JSON.stringify(why)}`);
}
const read = name => fs.readFileSync(fixtures + '/' + name);
const hex = s => Buffer.from(s, 'hex');

// ---- reflection ----

function reflect(version, requests) {
    const file = version === 'v1' ? 'reflection.proto' : 'reflection_alpha.proto';
    const P = grpc.loadPackageDefinition(loader.loadSync(`${protoDir}/${file}`, options)).grpc.reflection[version];
    return new Promise((resolve, reject) => {
        const stub = new P.ServerReflection(address, insecure), stream = stub.ServerReflectionInfo(), answers = [];
        stream.on('data', a => { answers.push(a); if (answers.length === requests.length) stream.end(); });
        stream.on('end', () => { stub.close(); resolve(answers); });
        stream.on('error', reject);
        for (const q of requests) stream.write(q);
    });
}

function varint(n) {
    const out = [];
    for (; n > 127; n = Math.floor(n / 128)) out.push((n & 127) | 128);
    return Buffer.from(out.concat(n));
}

/** The packages of the server, from the descriptors that it gives. */
async function learn(version) {
    const [list, ...files] = await reflect(version, [
        {list_services: '*'}, {file_containing_symbol: 'cuzk.v1.ProvingEngine'},
        {file_containing_symbol: 'grpc.health.v1.Health'}]);
    const sets = files.map(f => f.file_descriptor_response.file_descriptor_proto[0]);
    const set = Buffer.concat(sets.flatMap(b => [Buffer.from([0x0a]), varint(b.length), b]));
    return {services: list.list_services_response.service.map(s => s.name),
            api: grpc.loadPackageDefinition(loader.loadFileDescriptorSetFromBuffer(set, options))};
}

// ---- calls ----

let engine, operator;
function call(stub, method, q, deadlineMs = 600000, meta = new grpc.Metadata(), extra = {}) {
    let handle;
    const done = new Promise(resolve => {
        handle = stub[method](q, meta, {deadline: Date.now() + deadlineMs, ...extra},
                              (e, a) => resolve(e ? {code: e.code, details: e.details} : a));
    });
    done.cancel = () => handle.cancel();
    return done;
}
const ask = (method, q, ...rest) => call(engine, method, q, ...rest);
const prove = (submit, ...rest) => call(engine, 'Prove', {submit}, ...rest);
const cancel = job_id => call(engine, 'CancelProof', {job_id});
async function document(path) {
    const a = await call(operator, 'Get', {path});
    return a.code ? a : JSON.parse(a.body.toString());
}
async function job(id) { return document('/jobs/' + encodeURIComponent(id)); }
/** Until the job is in one of these states. */
async function until(id, states, seconds = 120) {
    for (let i = 0; i < seconds * 20; i++) {
        const j = await job(id);
        if (states.includes(j.state)) return j.state;
        await sleep(50);
    }
    return (await job(id)).state;
}

// ---- what Curio sends ----

const S = name => JSON.parse(read(name + '/statement.json'));
const kinds = {
    porep() {
        const s = S('porep-v1_1');
        return {request_id: `ps-porep-${s.miner_id}-${s.sector_number}-7`, proof_kind: 'POREP_SEAL_COMMIT', sector_size: s.sector_size,
                registered_proof: s.registered_seal_proof, vanilla_proof: read('porep-v1_1/c1-wrapped.json'),
                sector_number: s.sector_number, miner_id: s.miner_id};
    },
    update() {
        const s = S('update');
        return {request_id: `snap-${s.miner_id}-${s.sector_number}`, proof_kind: 'SNAP_DEALS_UPDATE', sector_size: 0,
                registered_proof: s.registered_update_proof, vanilla_proofs: [read('update/partition-0.bin')],
                sector_number: s.sector_number, miner_id: s.miner_id, comm_r_old: hex(s.comm_r_old),
                comm_r_new: hex(s.comm_r_new), comm_d_new: hex(s.comm_d_new)};
    },
    window(id = 'wdpost-1364727-0-[1 2 3 4 5 6 7 8]') {
        const s = S('window-v1_1-short');
        return {request_id: id, proof_kind: 'WINDOW_POST_PARTITION', sector_size: s.sector_size,
                registered_proof: s.registered_post_proof, vanilla_proofs: s.sectors.map(x => read('window-v1_1-short/' + x.vanilla)),
                randomness: hex(s.randomness), miner_id: s.miner_id, partition_index: 0};
    },
    winning() {
        const s = S('winning');
        return {request_id: `winpost-${s.miner_id}-0123456789abcdef`, proof_kind: 'WINNING_POST', sector_size: s.sector_size,
                registered_proof: s.registered_post_proof, vanilla_proofs: [read('winning/vanilla-0.bin')],
                randomness: hex(s.randomness), miner_id: s.miner_id};
    },
    groth16: (id = '') => ({request_id: id, proof_kind: 'GROTH16', circuit: 'mult3', witness: fs.readFileSync(mult3 + '/witness.wtns')}),
};

function timesAdd(r) {
    return r.queue_wait_ms + r.srs_load_ms + r.synthesis_ms + r.gpu_compute_ms + r.decode_ms + r.verify_ms + r.store_ms + r.rest_ms;
}

/** Runs the parts that the command line names; peer gets what the server told: api, engine, operator. */
function run(parts, peer) {
    (async () => {
        const api = (await learn('v1')).api;
        engine = new api.cuzk.v1.ProvingEngine(address, insecure, wide);
        operator = new api.cuzk.v1.Operator(address, insecure, wide);
        Object.assign(peer, {api, engine, operator});
        for (const name of part.split(',')) await parts[name]();
        process.exit(0);
    })().catch(e => { console.log(`FAIL ${part}: ${e.stack}`); process.exit(1); });
}

module.exports = {grpc, loader, address, work, insecure, wide, options, sleep, MiB, check, read, hex, reflect, learn, call, ask, prove,
                  cancel, document, job, until, S, kinds, timesAdd, run};
