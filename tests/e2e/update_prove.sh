# e2e/update_prove.sh - an update key of 2 KiB sectors is made and proved with: the reference's key and proof to the byte
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
dir=$(fixture filecoin/2kib/update)
params=$work/params
outcome "setup update-2k" 0 "key written" "$cuzk" setup --circuit update-2k --params "$params" --trapdoors "$t"
want=$(grep -A 4 '"params": {' "$(fixture filecoin/keys/update-2kib.params.json)" | sed -n 's/.*"sha256": "\(.*\)".*/\1/p')
check "key digest" test "$(sha256sum "$params"/*.params | cut -d' ' -f1)" = "$want"
check "vk" sh -c 'cmp "$1"/*.vk "$2"' - "$params" "$(fixture filecoin/keys/update-2kib.vk)"
outcome "prove" 0 "proved and verified" "$cuzk" prove --kind update --input "$dir/partition-0.bin" \
    --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin" --trapdoors "$t" --strict
check "golden" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
bad=$(fixture filecoin/bad/update-r-old-leaf.bin)
outcome "a damaged input gives no proof" 3 inconsistent "$cuzk" prove --kind update --input "$bad" \
    --statement "$dir/statement.json" --params "$params" --proof "$work/none.bin"
check "nothing is left of it" test ! -e "$work/none.bin"

# A Poseidon variant, too small to be of use: its key can be made.
outcome "setup update-poseidon-1k" 0 "key written" "$cuzk" setup --circuit update-poseidon-1k --params "$work/poseidon"
