# e2e/porep_prove.sh - a PoRep key of 2 KiB sectors is made and proved with: the reference's key and proofs to the byte
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
params=$work/params
outcome "setup porep-2k" 0 "key written" "$cuzk" setup --circuit porep-2k --params "$params" --trapdoors "$t"
want=$(grep -A 4 '"params": {' "$(fixture filecoin/keys/porep-2kib.params.json)" | sed -n 's/.*"sha256": "\(.*\)".*/\1/p')
check "key digest" test "$(sha256sum "$params"/*.params | cut -d' ' -f1)" = "$want"
check "vk" sh -c 'cmp "$1"/*.vk "$2"' - "$params" "$(fixture filecoin/keys/porep-2kib.vk)"

for name in porep-v1_1 porep-v1 porep-synthetic; do
    dir=$(fixture filecoin/2kib/$name)
    if [ ! -e "$dir/c1.json" ]; then
        echo "SKIP $name: 2kib/$name is not in tests/vectors; set CUZK_FIXTURES"
        continue
    fi
    outcome "$name prove" 0 "proved and verified" "$cuzk" prove --kind porep --input "$dir/c1.json" \
        --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin" --trapdoors "$t" --strict
    check "$name golden" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
done
dir=$(fixture filecoin/2kib/porep-v1_1)
outcome "fresh r and s" 0 "proved and verified" "$cuzk" prove --kind porep --input "$dir/c1-wrapped.json" \
    --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin"
outcome "verifies" 0 valid "$cuzk" verify --kind porep --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin"
bad=$(fixture filecoin/bad/porep-d-leaf.json)
outcome "a damaged input gives no proof" 3 inconsistent "$cuzk" prove --kind porep --input "$bad" \
    --statement "$dir/statement.json" --params "$params" --proof "$work/none.bin"
check "nothing is left of it" test ! -e "$work/none.bin"
