# e2e/snarkjs.sh - the judge from npm: snarkjs verifies our proofs and reads our keys
. "$CUZK_TEST_DIR/e2e/lib.inc"

snarkjs=$CUZK_JUDGES/node_modules/.bin/snarkjs
if [ ! -x "$snarkjs" ]; then
    echo "SKIP snarkjs: not installed (tools/install_deps check-all)"
    exit 0
fi
for curve in bn128 bls12381; do
    for name in mult3 hints merkle5 eddsa nopub allpub linear; do
        dir=$(fixture circom/$curve/$name)
        [ -n "$dir" ] || continue
        "$cuzk" prove "$dir/circuit.zkey" "$dir/witness.wtns" "$work/p.json" "$work/q.json" >/dev/null
        outcome "snarkjs accepts our proof of $curve/$name" 0 "OK!" \
            "$snarkjs" groth16 verify "$dir/verification_key.json" "$work/q.json" "$work/p.json"
    done
    # A key of our setup: snarkjs proves with it, each verifies the other's proof.
    dir=$(fixture circom/$curve/mult3)
    "$cuzk" setup "$dir/circuit.r1cs" "$work/k.zkey" "$work/vk.json" >/dev/null 2>&1
    outcome "$curve: snarkjs exports our key" 0 "" "$snarkjs" zkey export verificationkey "$work/k.zkey" "$work/vk2.json"
    check "$curve: the same verification key" cmp "$work/vk.json" "$work/vk2.json"
    outcome "$curve: snarkjs proves with our key" 0 "" \
        "$snarkjs" groth16 prove "$work/k.zkey" "$dir/witness.wtns" "$work/p.json" "$work/q.json"
    outcome "$curve: we accept its proof" 0 valid "$cuzk" verify "$work/vk.json" "$work/q.json" "$work/p.json"
    "$cuzk" prove "$work/k.zkey" "$dir/witness.wtns" "$work/p.json" "$work/q.json" >/dev/null
    outcome "$curve: snarkjs accepts ours under our key" 0 "OK!" "$snarkjs" groth16 verify "$work/vk.json" "$work/q.json" "$work/p.json"
    sed 's/[0-9]"/7"/' "$work/q.json" >"$work/q2.json"
    outcome "$curve: snarkjs refuses another signal" 1 "Invalid proof" "$snarkjs" groth16 verify "$work/vk.json" "$work/q2.json" "$work/p.json"
done
