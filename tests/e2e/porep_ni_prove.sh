# e2e/porep_ni_prove.sh - the thirteen proofs of a non-interactive PoRep are the reference's to the byte
# run: check-long
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
dir=$(fixture filecoin/2kib/porep-ni)
params=$work/params
outcome "setup porep-2k" 0 "key written" "$cuzk" setup --circuit porep-2k --params "$params" --trapdoors "$t"
outcome "prove" 0 "proved and verified" "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$dir/statement.json" \
    --params "$params" --proof "$work/p.bin" --trapdoors "$t" --strict
check "golden" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
outcome "verifies" 0 valid "$cuzk" verify --kind porep --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin"
