# e2e/circom.sh - the program on circom's and snarkjs's files, good and damaged (fixtures circom/bad/TABLE.md)
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

for curve in bn128 bls12381; do
    for name in mult3 hints merkle5 eddsa nopub allpub linear; do
        dir=$(fixture circom/$curve/$name)
        [ -n "$dir" ] || continue
        p=$work/proof.json
        q=$work/public.json
        outcome "$curve/$name prove" 0 "proved and verified" \
            "$cuzk" prove "$dir/circuit.zkey" "$dir/witness.wtns" "$p" "$q" --r1cs "$dir/circuit.r1cs"
        check "$curve/$name public signals" cmp "$q" "$dir/public.json"
        outcome "$curve/$name verify ours" 0 valid "$cuzk" verify "$dir/verification_key.json" "$q" "$p"
        outcome "$curve/$name verify snarkjs's" 0 valid \
            "$cuzk" verify "$dir/verification_key.json" "$dir/public.json" "$dir/proof.json"
        rm -f "$p" "$q"
    done
done

# refused NAME EXIT CLASS ARGS...: prove leaves nothing behind, with that exit and class
refused() {
    name=$1 want=$2 class=$3
    shift 3
    outcome "$name" "$want" "\"class\":\"$class\"" "$cuzk" prove "$@" --json
    if ls "$work"/x* >/dev/null 2>&1; then fail "$name" "something was written"; else ok "$name leaves nothing"; fi
    rm -f "$work"/x*
}

for curve in bn128 bls12381; do
    good=$(fixture circom/$curve/mult3)
    bad=$(fixture circom/bad)/$curve
    for f in truncated trailing empty magic unknown-prime n8-zero count-plus1 short-section dup-values w0-not-one; do
        refused "$curve wtns $f" 3 malformed \
            "$good/circuit.zkey" "$bad-wtns-$f.wtns" "$work/xp" "$work/xq"
    done
    refused "$curve wtns unsatisfied" 3 unsatisfied "$good/circuit.zkey" "$bad-wtns-unsatisfied.wtns" "$work/xp" "$work/xq"
    refused "$curve wtns unsatisfied, row named" 3 unsatisfied "$good/circuit.zkey" "$bad-wtns-unsatisfied.wtns" \
        "$work/xp" "$work/xq" --r1cs "$good/circuit.r1cs"
    check "$curve wtns unsatisfied names row 0" last_has '"where":"row 0"'
    for f in swap-C-H truncated missing-H short-A empty-H wrong-q domain7 coef-wire coef-row coef-matrix coef-count \
        coef-noncanonical section-size-wrap nsections-huge A-off-curve A-noncanonical delta-inf; do
        refused "$curve zkey $f" 3 malformed "$bad-zkey-$f.zkey" "$good/witness.wtns" "$work/xp" "$work/xq"
    done
    refused "$curve zkey protocol2" 3 shape "$bad-zkey-protocol2.zkey" "$good/witness.wtns" "$work/xp" "$work/xq"
    refused "$curve zkey domain-huge" 3 limit "$bad-zkey-domain-huge.zkey" "$good/witness.wtns" "$work/xp" "$work/xq"
    refused "$curve zkey B2-subgroup" 3 unsatisfied "$bad-zkey-B2-subgroup.zkey" "$good/witness.wtns" "$work/xp" "$work/xq"
    refused "$curve zkey B2-subgroup, good witness" 3 malformed "$bad-zkey-B2-subgroup.zkey" "$good/witness.wtns" \
        "$work/xp" "$work/xq" --r1cs "$good/circuit.r1cs"
    outcome "$curve zkey reordered" 0 "proved" "$cuzk" prove "$bad-zkey-reordered-OK.zkey" "$good/witness.wtns" \
        "$work/p" "$work/q"
    outcome "$curve r1cs truncated" 3 malformed "$cuzk" setup "$bad-r1cs-truncated.r1cs" "$work/x.zkey"
    check "$curve r1cs truncated leaves nothing" test ! -e "$work/x.zkey"

    vk=$good/verification_key.json
    for f in A-alias B-subgroup; do
        outcome "$curve proof $f" 3 malformed "$cuzk" verify "$vk" "$good/public.json" "$bad-proof-$f.json"
    done
    outcome "$curve proof C-neg" 1 "NOT VALID" "$cuzk" verify "$vk" "$good/public.json" "$bad-proof-C-neg.json"
    outcome "$curve public alias" 3 "public signal 0" "$cuzk" verify "$vk" "$bad-public-alias.json" "$good/proof.json"
    outcome "$curve public short" 3 shape "$cuzk" verify "$vk" "$bad-public-short.json" "$good/proof.json"
    outcome "$curve public wrong" 1 "NOT VALID" "$cuzk" verify "$vk" "$bad-public-wrong.json" "$good/proof.json"
done
bad=$(fixture circom/bad)
m=$(fixture circom/bn128/mult3)
refused "bls12381 zkey A-subgroup" 3 malformed "$bad/bls12381-zkey-A-subgroup.zkey" \
    "$(fixture circom/bls12381/mult3)/witness.wtns" "$work/xp" "$work/xq" --r1cs "$(fixture circom/bls12381/mult3)/circuit.r1cs"
outcome "bls12381 proof A-subgroup" 3 subgroup "$cuzk" verify "$(fixture circom/bls12381/mult3)/verification_key.json" \
    "$(fixture circom/bls12381/mult3)/public.json" "$bad/bls12381-proof-A-subgroup.json"
refused "other circuit" 3 shape "$m/circuit.zkey" "$(fixture circom/bn128/hints)/witness.wtns" "$work/xp" "$work/xq"
check "other circuit names both lengths" sh -c 'grep -q 856 "$1" && grep -qw 6 "$1"' - "$work/out"
refused "other curve" 3 shape "$m/circuit.zkey" "$(fixture circom/bls12381/mult3)/witness.wtns" "$work/xp" "$work/xq"
check "other curve names both" sh -c 'grep -q bn128 "$1" && grep -q bls12381 "$1"' - "$work/out"
refused "other curve, reverse" 3 shape "$(fixture circom/bls12381/mult3)/circuit.zkey" "$m/witness.wtns" "$work/xp" "$work/xq"

# A key of our own.
outcome "setup" 0 "key written" "$cuzk" setup "$m/circuit.r1cs" "$work/k.zkey" "$work/vk.json"
check "setup says what it is" last_has "single-party"
outcome "prove with it" 0 "proved" "$cuzk" prove "$work/k.zkey" "$m/witness.wtns" "$work/p.json" "$work/q.json"
outcome "verify with it" 0 valid "$cuzk" verify "$work/vk.json" "$work/q.json" "$work/p.json"
outcome "another key's proof" 1 "NOT VALID" "$cuzk" verify "$m/verification_key.json" "$work/q.json" "$work/p.json"
