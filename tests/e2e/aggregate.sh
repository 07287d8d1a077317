# e2e/aggregate.sh - aggregates by the program: those of the reference to the byte, and what is refused
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

two=$(fixture filecoin/2kib/aggregate)
seal=$(fixture filecoin/2kib/porep-v1_1)
ni=$(fixture filecoin/2kib/porep-ni)
update=$(fixture filecoin/2kib/update)
srs=$two/srs-16.srs
s=$seal/statement.json
params=$work/params
mkdir "$params"
cp "$(fixture filecoin/keys/porep-2kib.vk)" \
    "$params/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk"
cp "$(fixture filecoin/keys/update-2kib.vk)" \
    "$params/v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194.vk"
a=$work/a.bin

# two seals, versions 1 and 2
for v in 1 2; do
    outcome "two seals, V$v" 0 "aggregated and verified" "$cuzk" aggregate --statements "$s" "$s" \
        --proofs "$seal/proof-fixed-rs.bin" "$seal/proof.bin" --srs "$srs" --params "$params" --aggregate-version $v -o "$a"
    check "two seals, V$v: golden" cmp "$a" "$two/two-seals-v$v.bin"
    outcome "two seals, V$v: verifies" 0 valid "$cuzk" verify --aggregate --statements "$s" "$s" --params "$params" --srs "$srs" \
        --proof "$a" --aggregate-version $v
    outcome "two seals, V$v as V$((3 - v))" 1 "NOT VALID" "$cuzk" verify --aggregate --statements "$s" "$s" --params "$params" \
        --srs "$srs" --proof "$a" --aggregate-version $((3 - v))
done

# a non-interactive PoRep: its proof is the aggregate
outcome "NI" 0 "aggregated and verified" "$cuzk" aggregate --statements "$ni/statement.json" --proofs "$ni/proof-fixed-rs.bin" \
    --srs "$srs" --params "$params" -o "$a"
check "NI: golden" cmp "$a" "$ni/proof-aggregate-v2.bin"
outcome "NI: verifies as a PoRep" 0 valid "$cuzk" verify --kind porep --statement "$ni/statement.json" --params "$params" \
    --srs "$srs" --proof "$a"
outcome "NI: verifies as an aggregate" 0 valid "$cuzk" verify --aggregate --statements "$ni/statement.json" --params "$params" \
    --srs "$srs" --proof "$a"
outcome "NI: its circuits' proofs" 0 valid "$cuzk" verify --kind porep --statement "$ni/statement.json" --params "$params" \
    --proof "$ni/proof-fixed-rs.bin" --circuit-proofs
outcome "NI: an aggregate is not its circuits' proofs" 3 '"class":"shape"' "$cuzk" verify --kind porep \
    --statement "$ni/statement.json" --params "$params" --proof "$a" --circuit-proofs --json
outcome "NI: no powers" 4 "v28-fil-inner-product-v1.srs" "$cuzk" verify --kind porep --statement "$ni/statement.json" \
    --params "$params" --proof "$a"
cp "$srs" "$params/v28-fil-inner-product-v1.srs"
outcome "NI: powers by the network's name" 0 valid "$cuzk" verify --kind porep --statement "$ni/statement.json" --params "$params" \
    --proof "$a"
outcome "NI: these powers are not the network's" 0 '"class":"inconsistent"' "$cuzk" verify --kind porep \
    --statement "$ni/statement.json" --params "$params" --proof "$a" --json
outcome "NI: version 1" 3 '"class":"shape"' "$cuzk" aggregate --statements "$ni/statement.json" --proofs "$ni/proof-fixed-rs.bin" \
    --params "$params" -o "$work/x.bin" --aggregate-version 1 --json
head -c 10000 "$a" >"$work/cut.bin"
outcome "NI: cut" 3 '"class":"malformed"' "$cuzk" verify --kind porep --statement "$ni/statement.json" --params "$params" \
    --proof "$work/cut.bin" --json

# updates
u=$update/statement.json
outcome "updates" 0 "aggregated and verified" "$cuzk" aggregate --statements "$u" "$u" "$u" \
    --proofs "$update/proof-fixed-rs.bin" "$update/proof.bin" "$update/proof-fixed-rs.bin" --params "$params" -o "$a"
check "updates: digest" test "$(sha256sum <"$a")" = "6193f01ef5a3a12ce376439ab413516afea3f387efe702b0199fd4d46068a055  -"
outcome "updates: verify" 0 valid "$cuzk" verify --aggregate --statements "$u" "$u" "$u" --params "$params" --proof "$a"
outcome "updates: one more statement" 1 "NOT VALID" "$cuzk" verify --aggregate --statements "$u" "$u" "$u" "$u" --params "$params" \
    --proof "$a"
outcome "updates: too many statements" 3 '"class":"shape"' "$cuzk" verify --aggregate --statements "$u" "$u" "$u" "$u" "$u" \
    --params "$params" --proof "$a" --json
outcome "updates: version 1" 3 '"class":"shape"' "$cuzk" aggregate --statements "$u" --proofs "$update/proof.bin" \
    --params "$params" -o "$work/x.bin" --aggregate-version 1 --json

# refused before anything is aggregated
sed 's/"sector_number": 544162/"sector_number": 544163/' "$s" >"$work/other.json"
outcome "a proof that does not verify" 3 '"where":"proof 1"' "$cuzk" aggregate --statements "$s" "$work/other.json" "$s" \
    --proofs "$seal/proof.bin" "$seal/proof.bin" "$seal/proof.bin" --params "$params" -o "$work/x.bin" --json
outcome "the same, trusted" 0 "not verified" "$cuzk" aggregate --statements "$s" "$work/other.json" "$s" \
    --proofs "$seal/proof.bin" "$seal/proof.bin" "$seal/proof.bin" --srs "$srs" -o "$work/y.bin" --trust-inputs
outcome "the same, verified" 1 "NOT VALID" "$cuzk" verify --aggregate --statements "$s" "$work/other.json" "$s" \
    --params "$params" --proof "$work/y.bin"
outcome "another number of proofs" 3 '"class":"shape"' "$cuzk" aggregate --statements "$s" "$s" --proofs "$seal/proof.bin" \
    --params "$params" -o "$work/x.bin" --json
outcome "another circuit" 3 "sector 1: another circuit" "$cuzk" aggregate --statements "$s" "$u" \
    --proofs "$seal/proof.bin" "$update/proof.bin" --params "$params" -o "$work/x.bin"
outcome "interactive and not" 3 "sector 1: non-interactive" "$cuzk" aggregate --statements "$s" "$ni/statement.json" \
    --proofs "$seal/proof.bin" "$ni/proof-fixed-rs.bin" --params "$params" -o "$work/x.bin"
outcome "a sector's proof too long" 3 "sector 0: proof of 2496 bytes" "$cuzk" aggregate --statements "$s" \
    --proofs "$ni/proof-fixed-rs.bin" --params "$params" -o "$work/x.bin"
outcome "a PoSt" 3 "not aggregated" "$cuzk" aggregate --statements "$(fixture filecoin/2kib/window-v1_1)/statement.json" \
    --proofs "$seal/proof.bin" --params "$params" -o "$work/x.bin"
set -- # seventeen of each
statements=
proofs=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
    statements="$statements $s" proofs="$proofs $seal/proof.bin"
done
# shellcheck disable=SC2086 # lists of paths without blanks
outcome "powers too few" 3 "takes 64" "$cuzk" aggregate --statements $statements --proofs $proofs --params "$params" -o "$work/x.bin"
outcome "no proofs" 2 "" "$cuzk" aggregate --params "$params" -o "$work/x.bin"
outcome "no such version" 2 "known: 1, 2" "$cuzk" aggregate --statements "$s" --proofs "$seal/proof.bin" --params "$params" \
    -o "$work/x.bin" --aggregate-version 3
check "nothing was written" test ! -e "$work/x.bin"
outcome "powers for an interactive PoRep" 2 "non-interactive" "$cuzk" prove --kind porep --input "$seal/c1.json" --statement "$s" \
    --params "$params" --srs "$srs" --proof "$work/x.bin"

# files
outcome "inspect powers" 0 '"g_alpha":32' "$cuzk" inspect "$srs" --json
outcome "inspect an aggregate" 0 '"proofs":4' "$cuzk" inspect "$a" --json
head -c 9000 "$srs" >"$work/cut.srs"
outcome "inspect cut powers" 3 '"where":"h beta"' "$cuzk" inspect "$work/cut.srs" --json
outcome "params check: other powers than the network's" 3 '"aggregates":16' "$cuzk" params check "$params" --json
check "params check: says so" last_has "has digest"
outcome "bench" 0 "aggregate verify,2,1" "$cuzk" bench aggregate --log-n 1 --reps 1
outcome "bench: too large" 2 "limit 14" "$cuzk" bench aggregate --log-n 15
