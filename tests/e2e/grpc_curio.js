// e2e/grpc_curio.js - a client on @grpc/grpc-js that plays Curio: what it sends, how it waits and goes, and rude neighbours
//
// usage: grpc_curio.js ADDRESS PROTO_DIR WORK PART[,PART...]: see grpc_peer.js
// SPDX-License-Identifier: MIT OR Apache-2.0
'use strict';
const fs = require('fs');
const peer = require('./grpc_peer.js');
const {grpc, address, work, insecure, wide, sleep, MiB, check, read, hex, reflect, learn, call, prove, cancel, document, job, until, S, ask,
       kinds, timesAdd} = peer;

const parts = {
    async standard() {
        for (const version of ['v1', 'v1alpha']) {
            const l = await learn(version);
            check(`reflection ${version} lists the services`, ['cuzk.v1.ProvingEngine', 'cuzk.v1.Operator', 'grpc.health.v1.Health',
                'grpc.reflection.v1.ServerReflection'].every(s => l.services.includes(s)), l.services);
            const [byName, method, no] = await reflect(version, [{file_by_filename: 'proving.proto'},
                {file_containing_symbol: 'cuzk.v1.ProvingEngine.Prove'}, {file_containing_symbol: 'cuzk.v2.Nothing'}]);
            check(`reflection ${version} by file name and by method`, byName.file_descriptor_response.file_descriptor_proto.length === 1 &&
                method.file_descriptor_response.file_descriptor_proto.length === 1, {byName, method});
            check(`reflection ${version} of an unknown symbol`, no.error_response && no.error_response.error_code === 5, no);
        }
        const health = new peer.api.grpc.health.v1.Health(address, insecure);
        for (const [service, want] of [['', 'SERVING'], ['cuzk.v1.ProvingEngine', 'SERVING'], ['no.such', 5]]) {
            const a = await call(health, 'Check', {service});
            check(`health Check of "${service}"`, (a.status || a.code) === want, a);
        }
        const watch = health.Watch({service: 'no.such'});
        const first = await new Promise(r => { watch.on('data', r); watch.on('error', () => {}); });
        watch.cancel();
        check('health Watch of an unknown service', first.status === 'SERVICE_UNKNOWN', first);
    },

    async kinds() {
        for (const [name, parts1] of [['window', 1], ['winning', 1], ['update', 1], ['porep', 1]]) {
            const q = kinds[name](), a = await prove(q, 1800000), r = a.result || {};
            check(`${name}: Curio's request is proved`, r.status === 'COMPLETED' && r.job_id === q.request_id, a);
            check(`${name}: 192 bytes a partition`, r.proof && r.proof.length === 192 * parts1, r.proof && r.proof.length);
            if (r.proof) fs.writeFileSync(`${work}/${name}.proof`, r.proof);
            check(`${name}: times add up to total`, timesAdd(r) === r.total_ms, r);
            check(`${name}: the rest is at most 20 ms + 1%`, r.rest_ms <= 20 + r.total_ms / 100, r.rest_ms);
            const b = await prove(q, 1800000);
            check(`${name}: the same request again gives the stored proof`, b.result && b.result.job_id === r.job_id && b.result.proof.equals(r.proof), b.code || 'another');
        }
        const a = await prove(kinds.groth16('ζ-1 [a b]')), r = a.result || {};
        check('groth16: proof, snarkjs forms', r.status === 'COMPLETED' && r.proof.length === 256, a);
        if (r.proof_json) {
            fs.writeFileSync(`${work}/proof.json`, r.proof_json);
            fs.writeFileSync(`${work}/public.json`, r.public_json);
        }
        check('request_id: any UTF-8', r.job_id === 'ζ-1 [a b]', r.job_id);
        const e = await prove(kinds.groth16());
        check('request_id empty: a fresh UUID', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(e.result.job_id), e.result.job_id);
        const p = (await document('/jobs?limit=100')).jobs;
        const priority = k => (p.find(j => j.kind === k) || {}).priority;
        check('priority 0: by kind', priority('winning-post') === 'critical' && priority('window-post') === 'high' &&
            priority('porep-c2') === 'normal' && priority('snap-update') === 'normal' && priority('groth16') === 'normal', p.map(j => [j.kind, j.priority]));
    },

    async ids() {
        const one = kinds.window('wdpost-1-0-[x]'), other = {...one, randomness: hex('11'.repeat(32))};
        const a = await ask('SubmitProof', one), b = await ask('SubmitProof', {...one, priority: 'CRITICAL'});
        check('same id, same payload: the same job', a.job_id === 'wdpost-1-0-[x]' && b.job_id === a.job_id, [a, b]);
        check('it runs on a device', a.assigned_gpu === 'cpu', a.assigned_gpu);
        const c = await ask('SubmitProof', other);
        check('same id, other payload: another job, with a suffix', c.job_id !== a.job_id && c.job_id.startsWith(a.job_id), [a.job_id, c.job_id]);
        const d = await ask('AwaitProof', {job_id: a.job_id});
        check('AwaitProof gives the proof', d.status === 'COMPLETED' && d.proof.length === 192, d);
        const f = await ask('AwaitProof', {job_id: c.job_id});
        check('a proof for other randomness: OK with FAILED and a reason', f.status === 'FAILED' && f.error_message.length > 10, f);
        const again = await prove(other);
        check('after FAILED of the input: the same answer', again.result && again.result.status === 'FAILED' &&
            again.result.error_message === f.error_message && again.result.job_id === c.job_id, again);
    },

    async waits() {
        const q = {...kinds.porep(), request_id: 'porep-cancel'};
        const before = []; // so much work that it does not end before all this is done
        for (let i = 0; i < 3; i++) before.push((await ask('SubmitProof', {...kinds.porep(), request_id: `porep-before-${i}`})).job_id);
        const a = await ask('SubmitProof', q);
        const queued = {...kinds.porep(), request_id: 'porep-queued'};
        const w = await ask('SubmitProof', queued);
        check('queue_position counts who is before', w.queue_position === a.queue_position + 1, [a, w]);
        const t0 = Date.now(), t = await ask('AwaitProof', {job_id: a.job_id, timeout_ms: 300});
        check('AwaitProof honours timeout_ms', t.status === 'TIMEOUT' && Date.now() - t0 >= 290 && Date.now() - t0 < 60000, [t, Date.now() - t0]);
        check('the job goes on', ['queued', 'running'].includes((await job(a.job_id)).state), await job(a.job_id));
        const u = await ask('AwaitProof', {job_id: 'nobody'});
        check('AwaitProof of an unknown id: NOT_FOUND', u.code === 5, u);
        await until(a.job_id, ['running', 'completed'], 600);
        const status = await ask('GetStatus', {});
        check('GetStatus: work shows in its queue', status.queues.some(x => x.proof_kind === 'porep-c2' && x.pending + x.in_progress > 0), status);
        const evict = await ask('EvictSRS', {circuit_id: 'porep-2k'});
        check('EvictSRS of a key in use: FAILED_PRECONDITION', evict.code === 9, evict);

        const gone = prove(q, 600000);
        await sleep(300);
        gone.cancel();
        check('a Prove whose client goes: CANCELLED to it', (await gone).code === 1);
        await sleep(300);
        check('its job goes on (cancel_orphans is off)', ['queued', 'running'].includes((await job(a.job_id)).state));
        const short = await prove(q, 400);
        check('a Prove past its deadline: DEADLINE_EXCEEDED', short.code === 4, short);

        const waiter = prove(q), c1 = await cancel(w.job_id), c2 = await cancel(a.job_id);
        const dead = await ask('AwaitProof', {job_id: w.job_id});
        check('CancelProof of a job that waits', !c1.code && dead.status === 'CANCELLED', [c1, dead]);
        check('CancelProof of a running job', c2.was_running === true, c2);
        const got = await waiter;
        check('its waiter gets CANCELLED', got.result && got.result.status === 'CANCELLED', got);
        check('CancelProof of an unknown id: NOT_FOUND', (await cancel('nobody')).code === 5);
        const g = await ask('SubmitProof', q);
        const again = await until(g.job_id, ['queued', 'running', 'completed'], 5);
        check('after CANCELLED: a new attempt under the same id', g.job_id === q.request_id && again !== 'cancelled', [g, again]);
        for (const id of [g.job_id, ...before]) await cancel(id);
        for (const id of [g.job_id, ...before]) await ask('AwaitProof', {job_id: id, timeout_ms: 600000});
    },

    async keys() {
        const tier = async id => ((await ask('GetStatus', {})).loaded_srs.find(k => k.circuit_id === id) || {});
        await ask('EvictSRS', {circuit_id: 'winning-2k'});
        check('a key that was evicted is COLD', (await tier('winning-2k')).tier === 'COLD', await tier('winning-2k'));
        const a = await ask('PreloadSRS', {circuit_id: 'winning-2k'});
        check('PreloadSRS loads', a.already_loaded === false, a);
        const k = await tier('winning-2k');
        check('its tier, size and ref_count', k.tier === 'WARM' && k.size_bytes > 40e6 && k.ref_count === 0, k);
        const b = await ask('PreloadSRS', {circuit_id: 'winning-2k'});
        check('PreloadSRS again', b.already_loaded === true, b);
        const e = await ask('EvictSRS', {circuit_id: 'winning-2k'}), f = await ask('EvictSRS', {circuit_id: 'winning-2k'});
        check('EvictSRS frees', e.was_loaded === true && e.freed_bytes > 40e6, e);
        check('EvictSRS again', f.was_loaded === false && f.freed_bytes === 0, f);
        const m = await ask('PreloadSRS', {circuit_id: 'porep-32g'});
        check('PreloadSRS of a key that is not there names the file', m.code === 9 && m.details.includes('.params'), m);
        const n = await ask('PreloadSRS', {circuit_id: 'porep-33g'});
        check('PreloadSRS of no circuit', n.code === 3 || n.code === 5, n);
        const s = await ask('GetStatus', {});
        check('GetStatus: one row a device', s.gpus.length === 1 && s.gpus[0].name === 'cpu' && s.uptime_seconds >= 0, s.gpus);
        const metrics = await ask('GetMetrics', {});
        check('GetMetrics: names that are kept', ['cuzk_proofs_completed_total', 'cuzk_uptime_seconds', 'cuzk_queue_depth', 'cuzk_proof_duration_seconds',
            'cuzk_grpc_requests_total'].every(x => metrics.prometheus_text.includes(x)), metrics.prometheus_text.slice(0, 200));
    },

    async bad() {
        const w = kinds.window('bad'), x = await ask('Prove', {});
        check('Prove without submit: INVALID_ARGUMENT', x.code === 3, x);
        const long = {...kinds.winning(), request_id: 'x'.repeat(5000)};
        const cases = [
            ['no kind', {...w, proof_kind: 0}, 'proof_kind'], ['a kind that is none', {...w, proof_kind: 77}, '77'],
            ['a priority that is none', {...w, priority: 9}, 'priority'],
            ['randomness of 31 bytes', {...w, randomness: Buffer.alloc(31)}, 'randomness'],
            ['no vanilla proofs', {...w, vanilla_proofs: []}, 'vanilla_proofs'],
            ['comm_r_old of 33 bytes', {...kinds.update(), comm_r_old: Buffer.alloc(33)}, 'comm_r_old'],
            ['a registered proof that is none', {...w, registered_proof: 99}, 'registered'],
            ['no such circuit', {...kinds.groth16(), circuit: 'nope'}, 'nope'], ['an id of 5000 bytes', long, 'request_id'],
        ];
        for (const [name, q, text] of cases) {
            const a = await prove(q, 20000);
            check(`${name}: refused, and named`, (a.code === 3 || a.code === 5) && a.details.includes(text), a);
        }
        const s = S('porep-ni');
        const ni = await prove({request_id: 'ni', proof_kind: 'POREP_SEAL_COMMIT', sector_size: 2048, registered_proof: s.registered_seal_proof,
                                vanilla_proof: read('porep-ni/c1.json'), sector_number: s.sector_number, miner_id: s.miner_id}, 20000);
        check('a non-interactive PoRep: INVALID_ARGUMENT', ni.code === 3 && ni.details.includes('aggregation'), ni);
        const junk = await prove({...w, request_id: 'junk', vanilla_proofs: [Buffer.from('rubbish')]});
        check('a vanilla proof that is none: OK with FAILED', junk.result && junk.result.status === 'FAILED' && junk.result.error_message.length > 10, junk);
        const raw = new grpc.Client(address, insecure);
        const bytes = b => new Promise(r => raw.makeUnaryRequest('/cuzk.v1.ProvingEngine/Prove', x => x, x => x, b, (e) => r(e || {})));
        for (const b of ['0aff', '0a05aa', '08', 'ffffffffffffffffffffff', '0a0308960112ff', '0a020b01'])
            check(`a broken message ${b}`, (await bytes(Buffer.from(b, 'hex'))).code === 3);
        const none = await new Promise(r => raw.makeUnaryRequest('/cuzk.v1.ProvingEngine/Nothing', x => x, x => x, Buffer.alloc(0), r));
        check('an unknown method: UNIMPLEMENTED', none.code === 12, none);
        const later = await prove(kinds.groth16('after-the-rubbish'));
        check('proofs go on', later.result && later.result.status === 'COMPLETED', later);
    },

    async load() {
        const big = n => ({request_id: 'big', proof_kind: 'GROTH16', circuit: 'mult3', witness: Buffer.alloc(n)});
        const client = new peer.api.cuzk.v1.ProvingEngine(address, insecure, wide), L = 256 * MiB;
        const size = n => peer.api.cuzk.v1.ProvingEngine.service.Prove.requestSerialize({submit: big(n)}).length;
        const head = size(L - 64) - (L - 64);
        check('the request is 256 MiB', size(L - head) === L, size(L - head));
        const at = await call(client, 'Prove', {submit: big(L - head)}, 120000);
        check('256 MiB are taken', at.result && at.result.status === 'FAILED', at);
        const over = await call(client, 'Prove', {submit: big(L - head + 1)}, 120000);
        check('256 MiB + 1: RESOURCE_EXHAUSTED, with the limit', over.code === 8 && over.details.includes('268435456'), over);
        client.close();
        // grpc-js compresses a channel's first request alone: it does not find " gzip" in the server's "identity, deflate, gzip"
        for (const [name, algorithm] of [['deflate', 1], ['gzip', 2]]) {
            const zip = () => new peer.api.cuzk.v1.ProvingEngine(address, insecure, {...wide, 'grpc.default_compression_algorithm': algorithm});
            const z = await call(zip(), 'Prove', {submit: kinds.groth16(name)});
            check(`${name}: a compressed request`, z.result && z.result.status === 'COMPLETED', z);
            const bomb = await call(zip(), 'Prove', {submit: big(300 * MiB)}, 120000);
            check(`${name}: a bomb is refused`, bomb.code === 8 && bomb.details.includes('max_message'), bomb);
        }
        const all = await Promise.all(Array.from({length: 200}, (_, i) => prove(kinds.groth16(`many-${i}`))));
        check('200 requests at a time', all.every(a => a.result && a.result.status === 'COMPLETED'), all.find(a => !a.result || a.result.status !== 'COMPLETED'));
        check('each gets its own job', new Set(all.map(a => a.result && a.result.job_id)).size === 200);
    },

    /** Clients that do not read, do not write on, or write rubbish, beside one that works. */
    async rude() {
        const net = require('net'), http2 = require('http2'), path = address.replace('unix://', '');
        const preface = Buffer.from('505249202a20485454502f322e300d0a0d0a534d0d0a0d0a000000040000000000', 'hex');
        const sockets = [], readers = [];
        for (let i = 0; i < 60; i++) {
            const k = net.connect(path);
            k.on('error', () => {});
            if (i % 3 > 0) k.write(preface);
            if (i % 3 > 1) k.write(require('crypto').randomBytes(200 + i));
            sockets.push(k);
        }
        for (let i = 0; i < 10; i++) { // whole requests for a long document, which nobody reads
            const session = http2.connect('http://x', {createConnection: () => net.connect(path), settings: {initialWindowSize: 1}});
            session.on('error', () => {});
            const name = Buffer.from('/trace'), q = Buffer.concat([Buffer.from([0, 0, 0, 0, 2 + name.length, 10, name.length]), name]);
            const r = session.request({':method': 'POST', ':path': '/cuzk.v1.Operator/Get', 'content-type': 'application/grpc', te: 'trailers'});
            r.on('error', () => {});
            r.pause();
            r.end(q);
            readers.push(session);
        }
        for (let i = 0; i < 10; i++) { // half a message, then nothing
            const session = http2.connect('http://x', {createConnection: () => net.connect(path)});
            session.on('error', () => {});
            const r = session.request({':method': 'POST', ':path': '/cuzk.v1.ProvingEngine/Prove', 'content-type': 'application/grpc', te: 'trailers'});
            r.on('error', () => {});
            r.write(Buffer.from([0, 0, 16, 0, 0, 1, 2, 3]));
            readers.push(session);
        }
        await sleep(500);
        const t0 = Date.now();
        for (let i = 0; i < 10; i++) {
            const a = await prove(kinds.groth16(`beside-${i}`), 120000);
            if (i === 0 || !a.result) check('a proof beside rude clients', a.result && a.result.status === 'COMPLETED', a);
        }
        check('it is not slowed', Date.now() - t0 < 60000, Date.now() - t0);
        for (const k of sockets) k.destroy();
        for (const k of readers) k.destroy();
        const active = async () => Number(/^cuzk_grpc_active_requests (\d+)/m.exec((await ask('GetMetrics', {})).prometheus_text)[1]);
        let n = await active();
        for (let i = 0; i < 2400 && n > 1; i++) { await sleep(50); n = await active(); }
        check('nothing is left of them', n === 1, n);
    },

    /** cancel_orphans is on: the daemon stops while two wait, one on the device and one behind it. */
    async stops() {
        const asked = [prove({...kinds.porep(), request_id: 'busy'})];
        await until('busy', ['running', 'completed']);
        asked.push(prove({...kinds.porep(), request_id: 'kept'}));
        await until('kept', ['queued', 'running', 'completed']);
        fs.writeFileSync(`${work}/stop-now`, '');
        const [, b] = await Promise.all(asked);
        check('a Prove that waits is ended when the daemon stops', b.code !== undefined, b);
    },

    /** Through a drain: another process sends SIGTERM when it sees the line. */
    async drain() {
        const health = new peer.api.grpc.health.v1.Health(address, insecure), seen = [];
        const watch = health.Watch({service: 'cuzk.v1.ProvingEngine'});
        watch.on('data', a => seen.push(a.status));
        watch.on('error', () => {});
        const a = await ask('SubmitProof', {...kinds.porep(), request_id: 'drained'});
        const waiter = ask('AwaitProof', {job_id: a.job_id});
        while (!seen.length) await sleep(20);
        check('health Watch: SERVING', seen[0] === 'SERVING', seen);
        await until(a.job_id, ['running', 'completed']);
        fs.writeFileSync(`${work}/drain-now`, '');
        for (let i = 0; i < 2400 && seen.length < 2; i++) await sleep(50);
        check('health Watch: NOT_SERVING while it drains', seen[1] === 'NOT_SERVING', seen);
        const b = await ask('SubmitProof', kinds.groth16('too-late'), 120000);
        check('no new work while it drains: UNAVAILABLE', b.code === 14, b);
        const w = await waiter;
        check('who waits is answered, or told that the job is kept', w.status === 'COMPLETED' || w.code === 14, w);
    },

    async orphans() {
        const q = {...kinds.porep(), request_id: 'orphan'}, p = prove(q);
        await sleep(50);
        await until(q.request_id, ['running', 'queued'], 120);
        p.cancel();
        await p;
        const state = await until(q.request_id, ['cancelled', 'completed'], 300);
        check('cancel_orphans: the job of a client that went is cancelled', state === 'cancelled', state);
        const w = await ask('SubmitProof', kinds.window('kept'));
        check('a job without a waiter is taken', w.job_id === 'kept', w);
        const r = await ask('AwaitProof', {job_id: 'kept'});
        check('a job that nobody left is not', r.status === 'COMPLETED', r);
    },
};

peer.run(parts, peer);
