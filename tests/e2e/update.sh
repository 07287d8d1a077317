# e2e/update.sh - the program on sector updates: inputs and proofs of the reference, damaged inputs (fixtures filecoin/bad/TABLE.md)
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

dir=$(fixture filecoin/2kib/update)
st=$dir/statement.json
name=v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194
params=$work/params
mkdir "$params"
cp "$(fixture filecoin/keys/update-2kib.vk)" "$params/$name.vk"

outcome "check" 0 "inputs are right" "$cuzk" prove --kind update --input "$dir/partition-0.bin" --statement "$st" --check-only --strict
outcome "check, gRPC's name" 0 "inputs are right" "$cuzk" prove --kind snap --input "$dir/partition-0.bin" --statement "$st" \
    --check-only --strict
outcome "partition 0" 0 "inputs are right" "$cuzk" prove --kind update --input "$dir/partition-0.bin" --statement "$st" --check-only \
    --partition 0
outcome "partition 1" 3 shape "$cuzk" prove --kind update --input "$dir/partition-0.bin" --statement "$st" --check-only --partition 1
outcome "two inputs" 3 '"class":"shape"' "$cuzk" prove --kind update --input "$dir/partition-0.bin" "$dir/partition-0.bin" \
    --statement "$st" --check-only --json
outcome "no key" 4 io "$cuzk" prove --kind update --input "$dir/partition-0.bin" --statement "$st" --params "$work" \
    --proof "$work/x.bin" --json
check "no key leaves nothing" test ! -e "$work/x.bin"
model=$(fixture filecoin/model)
outcome "the model's" 0 "inputs are right" "$cuzk" prove --kind update --input "$model/update-2kib.bin" \
    --statement "$model/update-2kib.pub.json" --check-only --strict
outcome "the model's, another statement" 3 '"class":"statement"' "$cuzk" prove --kind update --input "$model/update-2kib.bin" \
    --statement "$st" --check-only --json

outcome "verify the library's proof" 0 valid "$cuzk" verify --kind update --statement "$st" --params "$params" \
    --proof "$dir/proof.bin"
outcome "verify the fixed proof" 0 valid "$cuzk" verify --kind update --statement "$st" --params "$params" \
    --proof "$dir/proof-fixed-rs.bin"
sed 's/"comm_r_new": "../"comm_r_new": "00/' "$st" >"$work/st.json"
outcome "another comm_r_new" 1 "NOT VALID" "$cuzk" verify --kind update --statement "$work/st.json" --params "$params" \
    --proof "$dir/proof.bin"
outcome "inspect a statement" 0 '"kind":"update"' "$cuzk" inspect "$st" --json

# TABLE.md: | file | made from | class | fault | the message must tell |
bad=$(fixture filecoin/bad)
grep '^| update-' "$bad/TABLE.md" | while IFS='|' read -r _ file _ class _; do
    file=$(echo "$file" | tr -d ' ')
    class=$(echo "$class" | tr -d ' ')
    outcome "$file" 3 "\"class\":\"$class\"" "$cuzk" prove --kind update --input "$bad/$file" --statement "$st" --check-only --json
done

# What the circuit does not read: the last byte of the file is an index's.
size=$(wc -c <"$dir/partition-0.bin")
byte=$(od -An -tu1 -j$((size - 8)) -N1 "$dir/partition-0.bin" | tr -d ' ')
cp "$dir/partition-0.bin" "$work/index.bin"
printf "\\$(printf %o $((byte ^ 1)))" | dd of="$work/index.bin" bs=1 seek=$((size - 8)) conv=notrunc 2>/dev/null
outcome "an index" 0 '"warnings":[{"class":"redundant","where":"partition 0, challenge 9, r_new"' "$cuzk" prove --kind update \
    --input "$work/index.bin" --statement "$st" --check-only --json
outcome "an index, --strict" 3 '"class":"redundant"' "$cuzk" prove --kind update --input "$work/index.bin" --statement "$st" \
    --check-only --json --strict

for size in 4kib 16kib 32kib 8mib; do
    c=$(fixture filecoin/$size/update)
    [ -n "$c" ] || continue
    outcome "$size check" 0 "inputs are right" "$cuzk" prove --kind update --input "$c"/partition-*.bin \
        --statement "$c/statement.json" --check-only --strict
done
c=$(fixture filecoin/8mib/update)
if [ -n "$c" ]; then
    outcome "partition 2 alone" 0 "inputs are right" "$cuzk" prove --kind update --input "$c/partition-2.bin" \
        --statement "$c/statement.json" --check-only --partition 2
    outcome "as partition 3" 3 '"class":"inconsistent"' "$cuzk" prove --kind update --input "$c/partition-2.bin" \
        --statement "$c/statement.json" --check-only --partition 3 --json
    outcome "3 of 4 partitions" 3 "3 inputs given, the update has 4 partitions" "$cuzk" prove --kind update \
        --input "$c/partition-0.bin" "$c/partition-1.bin" "$c/partition-2.bin" --statement "$c/statement.json" --check-only
fi
c=$(fixture filecoin/32gib/update)
if [ -n "$c" ]; then
    for k in 0 15; do
        outcome "32 GiB, partition $k" 0 "inputs are right" "$cuzk" prove --kind update --input "$c/partition-$k.bin" \
            --statement "$c/statement.json" --check-only --partition $k --strict
    done
fi
