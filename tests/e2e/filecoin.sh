# e2e/filecoin.sh - the program on WindowPoSt: keys, golden proofs, damaged inputs (fixtures filecoin/bad/TABLE.md)
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
params=$work/params
outcome "setup window-2k" 0 "key written" "$cuzk" setup --circuit window-2k --params "$params" --trapdoors "$t"
want=$(grep -A 4 '"params": {' "$(fixture filecoin/keys/window-2kib.params.json)" | sed -n 's/.*"sha256": "\(.*\)".*/\1/p')
check "key digest" test "$(sha256sum "$params"/*.params | cut -d' ' -f1)" = "$want"
check "meta" grep -qx '{"sector_size":2048}' "$params"/*.meta
outcome "wpost name" 0 "key written" "$cuzk" setup --circuit wpost-2k --params "$work/params2" --trapdoors "$t"
check "same file for either name" sh -c 'cmp "$1"/*.params "$2"/*.params' - "$params" "$work/params2"

for name in window-v1 window-v1_1 window-v1_1-short; do
    dir=$(fixture filecoin/2kib/$name)
    st=$dir/statement.json
    outcome "$name prove" 0 "proved and verified" "$cuzk" prove --kind window --input "$dir"/vanilla-*.bin --statement "$st" \
        --params "$params" --proof "$work/p.bin" --trapdoors "$t"
    check "$name golden" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
    outcome "$name verify" 0 valid "$cuzk" verify --kind window --statement "$st" --params "$params" --proof "$dir/proof.bin"
    # One partition alone, from its own inputs and from all.
    outcome "$name partition 0" 0 "proved" "$cuzk" prove --kind window --input "$dir"/vanilla-*.bin --statement "$st" \
        --params "$params" --proof "$work/p0.bin" --partition 0
    outcome "$name partition 0 verifies" 0 valid "$cuzk" verify --kind window --statement "$st" --params "$params" \
        --proof "$work/p0.bin" --partition 0
    outcome "$name partition 9" 3 shape "$cuzk" prove --kind window --input "$dir"/vanilla-*.bin --statement "$st" \
        --params "$params" --proof "$work/x.bin" --partition 9
done
dir=$(fixture filecoin/2kib/window-v1_1)
st=$dir/statement.json
outcome "last partition from its own input" 0 "proved" "$cuzk" prove --kind window --input "$dir/vanilla-2.bin" \
    --statement "$st" --params "$params" --proof "$work/p1.bin" --partition 1
outcome "its proof is not partition 0's" 1 "NOT VALID" "$cuzk" verify --kind window --statement "$st" --params "$params" \
    --proof "$work/p1.bin" --partition 0

# Any flipped bit of a proof: refused or not valid, never valid.
for at in 0 1 20 47 48 100 143 144 191; do
    cp "$dir/proof.bin" "$work/flip.bin"
    byte=$(od -An -tu1 -j$at -N1 "$dir/proof.bin" | tr -d ' ')
    printf "\\$(printf %o $((byte ^ 1)))" | dd of="$work/flip.bin" bs=1 seek=$at conv=notrunc 2>/dev/null
    "$cuzk" verify --kind window --statement "$st" --params "$params" --proof "$work/flip.bin" >"$work/out" 2>&1
    code=$?
    if [ $code -eq 1 ] || [ $code -eq 3 ]; then ok "proof byte $at flipped"; else fail "proof byte $at flipped" "exit $code"; fi
done
# Any statement changed.
sed 's/"miner_id": [0-9]*/"miner_id": 4242/; s/"randomness": "./"randomness": "f/' "$st" >"$work/st.json"
outcome "randomness changed" 1 "NOT VALID" "$cuzk" verify --kind window --statement "$work/st.json" --params "$params" --proof "$dir/proof.bin"
sed 's/"sector_number": \([0-9]*\)/"sector_number": 9\1/' "$st" >"$work/st.json"
outcome "sector number changed" 1 "NOT VALID" "$cuzk" verify --kind window --statement "$work/st.json" --params "$params" --proof "$dir/proof.bin"
head -c 191 "$dir/proof.bin" >"$work/short.bin"
outcome "proof cut short" 3 shape "$cuzk" verify --kind window --statement "$st" --params "$params" --proof "$work/short.bin"
outcome "no key there" 4 io "$cuzk" verify --kind window --statement "$st" --params "$work" --proof "$dir/proof.bin" --json

# TABLE.md: | file | made from | class | fault | the message must tell |
bad=$(fixture filecoin/bad)
grep '^| window-' "$bad/TABLE.md" | while IFS='|' read -r _ file _ class _; do
    file=$(echo "$file" | tr -d ' ')
    class=$(echo "$class" | tr -d ' ')
    outcome "$file" 3 "\"class\":\"$class\"" "$cuzk" prove --kind window --input "$bad/$file" "$dir/vanilla-1.bin" \
        "$dir/vanilla-2.bin" --statement "$st" --params "$params" --proof "$work/x.bin" --json
    check "$file leaves nothing" test ! -e "$work/x.bin"
done

curio=$(fixture filecoin/curio)
outcome "Curio's vanilla proof of a 32 GiB sector" 0 "inputs are right" "$cuzk" prove --kind window \
    --input "$curio/window-32gib-vanilla.bin" --statement "$curio/window-32gib-statement.json" --check-only
