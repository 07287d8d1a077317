# e2e/winning_prove.sh - the production WinningPoSt: a 32 GiB sector's key and proof are the reference's to the byte
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
dir=$(fixture filecoin/32gib/winning)
params=$work/params
prove() { "$cuzk" prove --kind winning --input "$dir/vanilla-0.bin" --statement "$dir/statement.json" --params "$params" "$@"; }
outcome "setup winning-32g" 0 "key written" "$cuzk" setup --circuit winning-32g --params "$params" --trapdoors "$t"
want=$(grep -A 4 '"params": {' "$(fixture filecoin/keys/winning-32gib.params.json)" | sed -n 's/.*"sha256": "\(.*\)".*/\1/p')
check "key digest" test "$(sha256sum "$params"/*.params | cut -d' ' -f1)" = "$want"
check "vk" sh -c 'cmp "$1"/*.vk "$2"' - "$params" "$(fixture filecoin/keys/winning-32gib.vk)"
outcome "prove" 0 "proved and verified" prove --proof "$work/p.bin" --trapdoors "$t" --strict
check "golden" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
outcome "its proof verifies" 0 valid "$cuzk" verify --kind winning --statement "$dir/statement.json" --params "$params" \
    --proof "$dir/proof.bin"
outcome "with fresh randomness" 0 "proved and verified" prove --proof "$work/q.bin"
check "another proof" sh -c '! cmp -s "$1" "$2"' - "$work/p.bin" "$work/q.bin"
outcome "it verifies" 0 valid "$cuzk" verify --kind winning --statement "$dir/statement.json" --params "$params" --proof "$work/q.bin"
