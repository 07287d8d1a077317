// e2e/grpc_aggregate.js - a client on @grpc/grpc-js that has its proofs aggregated: AggregateProofs
//
// usage: grpc_aggregate.js ADDRESS PROTO_DIR WORK PART[,PART...]: see grpc_peer.js
// SPDX-License-Identifier: MIT OR Apache-2.0
'use strict';
const fs = require('fs');
const crypto = require('crypto');
const peer = require('./grpc_peer.js');
const {work, check, read, hex, ask, cancel, document, job, S, timesAdd} = peer;

/** The two proofs of a folder's statement in turn, n of them. */
function seals(id, dir, n, more = {}) {
    const s = S(dir), proofs = ['proof-fixed-rs.bin', 'proof.bin'].map(f => n > 1 || f !== 'proof.bin' ? read(`${dir}/${f}`) : null);
    const sectors = [...Array(n).keys()].map(i => ({proof: proofs[i % 2], sector_number: s.sector_number, miner_id: s.miner_id,
        ticket: hex(s.ticket), seed: hex(s.seed), comm_d: hex(s.comm_d), comm_r: hex(s.comm_r)}));
    return {request_id: id, proof_kind: 'POREP_SEAL_COMMIT', sector_size: s.sector_size, registered_proof: s.registered_seal_proof,
            sectors, ...more};
}
function updates(id, n, more = {}) {
    const s = S('update'), proofs = ['proof-fixed-rs.bin', 'proof.bin'].map(f => read(`update/${f}`));
    const sectors = [...Array(n).keys()].map(i => ({proof: proofs[i % 2], comm_r_old: hex(s.comm_r_old), comm_r_new: hex(s.comm_r_new),
        comm_d_new: hex(s.comm_d_new)}));
    return {request_id: id, proof_kind: 'SNAP_DEALS_UPDATE', registered_proof: s.registered_update_proof, sectors, ...more};
}
const aggregate = (q, ...rest) => ask('AggregateProofs', q, ...rest);
const sha = b => crypto.createHash('sha256').update(b).digest('hex');
/** Of 16 seals, version 2 (spec/filecoin-aggregate.md 9.4). */
const SIXTEEN = '56cbabbb231da5261167012ba3908d41506d1741e323a06d6c3f7deeaeeb1596';
const done = (a, proof) => a.result && a.result.status === 'COMPLETED' && a.result.proof.equals(proof);

const parts = {
    async bytes() {
        for (const v of [1, 2]) {
            const q = seals(`two-${v}`, 'porep-v1_1', 2, {aggregate_version: v}), a = await aggregate(q);
            check(`two seals, version ${v}: the reference's bytes`, done(a, read(`aggregate/two-seals-v${v}.bin`)), a.result || a);
            check(`two seals, version ${v}: times add up to total`, a.result && timesAdd(a.result) === a.result.total_ms, a.result);
            const w = await ask('AwaitProof', {job_id: q.request_id});
            check(`two seals, version ${v}: AwaitProof has it too`, w.status === 'COMPLETED' && w.proof.equals(a.result.proof), w);
        }
        const ni = await aggregate(seals('ni', 'porep-ni', 1));
        check('a non-interactive PoRep: its circuits\' proofs to the reference\'s bytes', done(ni, read('porep-ni/proof-aggregate-v2.bin')), ni);
        fs.writeFileSync(`${work}/ni.bin`, ni.result ? ni.result.proof : '');
        const up = await aggregate(updates('updates', 3));
        check('updates: the reference\'s digest', up.result && sha(up.result.proof) ===
            '6193f01ef5a3a12ce376439ab413516afea3f387efe702b0199fd4d46068a055', up);
        const trusted = await aggregate(seals('trusted', 'porep-v1_1', 16, {trust_inputs: true, priority: 'CRITICAL'}));
        check('sixteen seals, trusted', trusted.result && trusted.result.status === 'COMPLETED' && sha(trusted.result.proof) === SIXTEEN, trusted);
        check('no id: a fresh UUID', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test((await aggregate(seals('', 'porep-v1_1', 2))).result.job_id));
        const again = await aggregate(seals('two-2', 'porep-v1_1', 2)), other = await aggregate(seals('two-2', 'porep-v1_1', 3));
        check('the same again: the stored aggregate', again.result.job_id === 'two-2' && done(again, read('aggregate/two-seals-v2.bin')), again);
        check('the same id, other proofs: another job', other.result && other.result.job_id.startsWith('two-2~'), other);
        const j = await job('trusted'), m = (await ask('GetMetrics', {})).prometheus_text;
        check('its kind and priority are told', j.kind === 'aggregate' && j.priority === 'critical' && (await job('two-1')).priority === 'normal', j);
        check('it is counted', Number((m.match(/^cuzk_proofs_completed\{proof_kind="aggregate"\} (\d+)$/m) || [])[1]) === 7, m.slice(0, 400));
        const t = await document('/trace?job=trusted'), names = t.traceEvents.map(e => e.name);
        check('its steps are in the trace', ['aggregate: commit', 'aggregate: round', 'aggregate: open keys', 'aggregate: verify'].every(
            n => names.includes(n)), [...new Set(names)]);
    },

    async bad() {
        const good = () => seals('bad', 'porep-v1_1', 3), field = (i, f) => { const q = good(); q.sectors[i] = {...q.sectors[i], ...f}; return q; };
        const refusals = [
            ['a kind that is not aggregated', {...good(), proof_kind: 'WINDOW_POST_PARTITION'}, 'not aggregated'],
            ['no sectors', {...good(), sectors: []}, 'nothing to aggregate'],
            ['too many sectors', {...good(), sectors: Array(16385).fill(good().sectors[0])}, '16384'],
            ['version 3', {...good(), aggregate_version: 3}, 'version 3'],
            ['updates by version 1', updates('bad', 1, {aggregate_version: 1}), 'version 2 alone'],
            ['no sector size', {...good(), sector_size: 0}, 'sector_size'],
            ['a registered proof of another size', {...good(), registered_proof: 8}, 'registered'],
            ['a sector without a proof', field(2, {proof: Buffer.alloc(0)}), 'sectors[2].proof'],
            ['a seed of 31 bytes', field(1, {seed: Buffer.alloc(31)}), 'sectors[1].seed'],
            ['an update\'s field in a seal', field(1, {comm_r_new: Buffer.alloc(32)}), 'sectors[1].comm_r_new'],
        ];
        for (const [name, q, tells] of refusals) {
            const a = await aggregate(q);
            check(`${name}: INVALID_ARGUMENT`, a.code === 3 && a.details.includes(tells), a);
        }
        const s = await ask('SubmitProof', {proof_kind: 101, sector_size: 2048, registered_proof: 5});
        check('SubmitProof of the kind: says which call', s.code === 3 && s.details.includes('AggregateProofs'), s);
        const failures = [
            ['a proof that does not verify is named', field(1, {sector_number: 7}), 'proof 1 (sector 1, partition 0) does not verify'],
            ['trusted, it is named after', {...field(1, {sector_number: 8}), trust_inputs: true}, 'proof 1 (sector 1, partition 0) does not verify'],
            ['a proof of another key', field(2, {proof: read('update/proof.bin')}), 'proof 2 (sector 2, partition 0)'],
            ['a proof of another length', field(0, {proof: Buffer.alloc(384)}), 'proof of 384 bytes'],
            ['a proof that is none', field(2, {proof: Buffer.alloc(192)}), 'sector 2'],
            ['powers too few', seals('bad', 'porep-v1_1', 17), 'reaches to 16 proofs, 17 are padded to 32'],
            ['one non-interactive sector by version 1', seals('bad', 'porep-ni', 1, {aggregate_version: 1}), 'version 2 alone'],
        ];
        for (const [name, q, tells] of failures) {
            const r = (await aggregate(q)).result || {};
            check(`${name}: OK with FAILED`, r.status === 'FAILED' && r.error_message.includes(tells) && r.proof.length === 0, r);
        }
        const late = (await aggregate(seals('late', 'porep-v1_1', 16, {deadline_ms: 1}))).result || {};
        check('a deadline of 1 ms: FAILED for it, or the aggregate', late.status === 'COMPLETED' ? sha(late.proof) === SIXTEEN :
            late.status === 'FAILED' && late.error_message.includes('deadline'), late);
    },

    /** Many at once; what a machine that stalls makes come out otherwise is tried again. */
    async waits() {
        let seen = false;
        for (let round = 0; round < 10 && !seen; round++) {
            const ids = [...Array(20).keys()].map(i => `wait-${round}-${i}`);
            const all = await Promise.all(ids.map(id => aggregate(seals(id, 'porep-v1_1', 16, {timeout_ms: 1, priority: 'LOW'}))));
            const last = ids[ids.length - 1], answer = all[all.length - 1].result || {};
            const waiter = ask('AwaitProof', {job_id: last});
            const c = await cancel(last), w = await waiter;
            check('with timeout_ms: an answer', answer.status === 'TIMEOUT' || answer.status === 'COMPLETED', answer);
            check('after CancelProof: CANCELLED, or it had ended', !c.code && (w.status === 'CANCELLED' || w.status === 'COMPLETED'), [c, w]);
            seen = all.some(a => a.result && a.result.status === 'TIMEOUT') && w.status === 'CANCELLED';
            for (const id of ids.slice(0, -1)) {
                const a = await ask('AwaitProof', {job_id: id});
                if (a.status !== 'COMPLETED' || sha(a.proof) !== SIXTEEN) check(`${id}: its bytes`, false, a);
            }
        }
        check('timeout_ms: TIMEOUT, and AwaitProof has the rest; CancelProof: its waiter gets CANCELLED', seen, 'not in ten rounds');
    },

    /** Jobs that the daemon's end will break off. */
    async leave() {
        for (let i = 0; i < 40; i++) await aggregate(seals(`left-${i}`, 'porep-v1_1', 16, {timeout_ms: 1}));
        fs.writeFileSync(`${work}/left`, '');
    },
    async taken() {
        let right = 0;
        for (let i = 0; i < 40; i++) {
            const a = await ask('AwaitProof', {job_id: `left-${i}`});
            if (a.status === 'COMPLETED' && sha(a.proof) === SIXTEEN) right++;
        }
        check('aggregates that a kill broke off come out after the restart', right === 40, `${right} of 40`);
    },

    async powerless() {
        const a = await aggregate(seals('two', 'porep-v1_1', 2));
        check('no powers: FAILED_PRECONDITION, and where they were looked for', a.code === 9 &&
            a.details.includes('v28-fil-inner-product-v1.srs is not there'), a);
    },
};

peer.run(parts, peer);
