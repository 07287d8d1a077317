# e2e/porep.sh - the program on PoRep: inputs and proofs of the reference, damaged inputs (fixtures filecoin/bad/TABLE.md)
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

dir=$(fixture filecoin/2kib/porep-v1_1)
st=$dir/statement.json
name=v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f
params=$work/params
mkdir "$params"
cp "$(fixture filecoin/keys/porep-2kib.vk)" "$params/$name.vk"

outcome "check" 0 "inputs are right" "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$st" --check-only --strict
outcome "check wrapped" 0 "inputs are right" "$cuzk" prove --kind porep --input "$dir/c1-wrapped.json" --statement "$st" \
    --check-only --strict
outcome "two inputs" 3 shape "$cuzk" prove --kind porep --input "$dir/c1.json" "$dir/c1.json" --statement "$st" --check-only
outcome "partition 0" 0 "inputs are right" "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$st" --check-only \
    --partition 0
outcome "partition 1" 3 shape "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$st" --check-only --partition 1
outcome "no key" 4 io "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$st" --params "$work" \
    --proof "$work/x.bin" --json
check "no key leaves nothing" test ! -e "$work/x.bin"

outcome "verify the library's proof" 0 valid "$cuzk" verify --kind porep --statement "$st" --params "$params" \
    --proof "$dir/proof.bin"
outcome "verify the fixed proof" 0 valid "$cuzk" verify --kind porep --statement "$st" --params "$params" \
    --proof "$dir/proof-fixed-rs.bin"

# Fields beside the statement, or without one; each is part of what is proved.
outcome "another sector" 1 "NOT VALID" "$cuzk" verify --kind porep --statement "$st" --params "$params" \
    --proof "$dir/proof.bin" --sector-number 1
outcome "another miner" 1 "NOT VALID" "$cuzk" verify --kind porep --statement "$st" --params "$params" \
    --proof "$dir/proof.bin" --miner-id 1
outcome "another API" 1 "NOT VALID" "$cuzk" verify --kind porep --statement "$st" --params "$params" \
    --proof "$dir/proof.bin" --registered-seal-proof 0
member() { sed -n "s/^  \"$1\": \"\{0,1\}\([0-9a-f]*\)\"\{0,1\},\{0,1\}$/\1/p" "$st"; }
outcome "fields alone" 0 valid "$cuzk" verify --kind porep --sector-size 2KiB --layers 2 \
    --registered-seal-proof "$(member registered_seal_proof)" --miner-id "$(member miner_id)" \
    --sector-number "$(member sector_number)" --ticket "$(member ticket)" --seed "$(member seed)" \
    --comm-d "$(member comm_d)" --comm-r "$(member comm_r)" --params "$params" --proof "$dir/proof.bin"
outcome "a field missing" 3 "missing layers" "$cuzk" verify --kind porep --sector-size 2KiB --params "$params" \
    --proof "$dir/proof.bin"
outcome "a field that is no number" 2 "miner_id: 1x is not a number" "$cuzk" verify --kind porep --statement "$st" \
    --params "$params" --proof "$dir/proof.bin" --miner-id 1x
outcome "another comm_r" 3 '"class":"statement"' "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$st" \
    --check-only --json --comm-r "$(member comm_d)"

outcome "inspect a C1" 0 StackedDrg2KiBV1_1 "$cuzk" inspect "$dir/c1.json"
outcome "inspect a wrapper" 0 '"sector_number":544162' "$cuzk" inspect "$dir/c1-wrapped.json" --json
outcome "inspect a statement" 0 '"kind":"porep"' "$cuzk" inspect "$st" --json

# TABLE.md: | file | made from | class | fault | the message must tell |
table=$(fixture filecoin/bad/TABLE.md)
grep -E '^\| (porep|wrap)-' "$table" | while IFS='|' read -r _ file _ class _; do
    file=$(echo "$file" | tr -d ' ')
    class=$(echo "$class" | tr -d ' ')
    bad=$(fixture "filecoin/bad/$file")
    if [ -z "$bad" ]; then
        echo "SKIP $file: $file is not in tests/vectors; set CUZK_FIXTURES"
        continue
    fi
    set -- "$cuzk" prove --kind porep --input "$bad" --statement "$st" --check-only --json
    case $class in
    accepted) outcome "$file" 0 '"warnings":[]' "$@" --strict ;;
    redundant)
        outcome "$file" 0 '"warnings":[{"class":"redundant","where":"partition 0' "$@"
        outcome "$file --strict" 3 '"class":"redundant"' "$@" --strict
        ;;
    *) outcome "$file" 3 "\"class\":\"$class\"" "$@" ;;
    esac
done

ni=$(fixture filecoin/2kib/porep-ni)
if [ -n "$ni" ]; then
    outcome "non-interactive" 0 "inputs are right" "$cuzk" prove --kind porep --input "$ni/c1.json" \
        --statement "$ni/statement.json" --check-only
    outcome "13 proofs" 0 valid "$cuzk" verify --kind porep --statement "$ni/statement.json" --params "$params" \
        --proof "$ni/proof-fixed-rs.bin"
    outcome "an aggregate" 0 valid "$cuzk" verify --kind porep --statement "$ni/statement.json" --params "$params" \
        --proof "$ni/proof-aggregate-v2.bin" --srs "$(fixture filecoin/2kib/aggregate)/srs-16.srs"
    outcome "an aggregate without its powers" 4 '"class":"io"' "$cuzk" verify --kind porep --statement "$ni/statement.json" \
        --params "$params" --proof "$ni/proof-aggregate-v2.bin" --json
fi
for case in 2kib/porep-v1 2kib/porep-synthetic; do
    c=$(fixture filecoin/$case)
    [ -n "$c" ] || continue
    outcome "$case verify" 0 valid "$cuzk" verify --kind porep --statement "$c/statement.json" --params "$params" \
        --proof "$c/proof.bin"
done
for case in 2kib/porep-v1 2kib/porep-synthetic 4kib/porep 16kib/porep 32kib/porep 8mib/porep 16kib/porep-11layers \
    32kib/porep-11layers; do
    c=$(fixture filecoin/$case)
    [ -n "$c" ] || continue
    outcome "$case check" 0 "inputs are right" "$cuzk" prove --kind porep --input "$c/c1.json" \
        --statement "$c/statement.json" --check-only --strict
done
