# e2e/porep_ni_prove.sh - a non-interactive PoRep: its thirteen circuits' proofs, and their aggregate, are the reference's to the byte
# run: check-long
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
dir=$(fixture filecoin/2kib/porep-ni)
params=$work/params
outcome "setup porep-2k" 0 "key written" "$cuzk" setup --circuit porep-2k --params "$params" --trapdoors "$t"
outcome "circuits' proofs" 0 "proved and verified" "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$dir/statement.json" \
    --params "$params" --proof "$work/p.bin" --trapdoors "$t" --strict --circuit-proofs
check "golden" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
outcome "verify" 0 valid "$cuzk" verify --kind porep --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin"
outcome "no powers" 4 "v28-fil-inner-product-v1.srs" "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$dir/statement.json" \
    --params "$params" --proof "$work/x.bin" --trapdoors "$t"
cp "$(fixture filecoin/2kib/aggregate/srs-16.srs)" "$params/v28-fil-inner-product-v1.srs"
outcome "aggregate" 0 "proved and verified" "$cuzk" prove --kind porep --input "$dir/c1.json" --statement "$dir/statement.json" \
    --params "$params" --proof "$work/a.bin" --trapdoors "$t" --strict
check "aggregate: golden" cmp "$work/a.bin" "$dir/proof-aggregate-v2.bin"
outcome "aggregate: verifies" 0 valid "$cuzk" verify --kind porep --statement "$dir/statement.json" --params "$params" --proof "$work/a.bin"

# through the daemon, with randomness of its own
case $("$cuzk" serve --check 2>&1) in
*"without the service"*) exit 0 ;;
esac
cat >"$work/c.toml" <<END
[daemon]
listen = "unix://$work/rpc.sock"
[store]
url = "sqlite://$work/jobs.db"
[srs]
param_cache = "$params"
END
"$cuzk" serve --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
pid=$!
trap 'kill $pid 2>/dev/null; rm -rf "$work"' EXIT
soon test -S "$work/rpc.sock"
outcome "daemon" 0 "" "$cuzk" submit --kind porep --input "$dir/c1.json" --statement "$dir/statement.json" --proof "$work/d.bin" \
    --address "unix://$work/rpc.sock"
check "daemon: length" test "$(stat -c %s "$work/d.bin")" = 14164
outcome "daemon: verifies" 0 valid "$cuzk" verify --kind porep --statement "$dir/statement.json" --params "$params" --proof "$work/d.bin"
kill $pid
wait $pid
