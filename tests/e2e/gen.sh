# e2e/gen.sh - made-up inputs: they pass the program's own strict check, the same seed gives the same files; what is refused
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

# accepted KIND SIZE [OPTION...]
accepted() {
    kind=$1 size=$2 dir=$work/$(echo "$*" | tr ' ' _)
    shift 2
    outcome "gen $kind $size $*" 0 "inputs written" "$cuzk" gen --kind "$kind" --sector-size "$size" --output "$dir" "$@"
    case $kind in porep) set -- "$dir/c1.json" ;; update) set -- "$dir"/partition-?.bin "$dir"/partition-??.bin ;; *) set -- "$dir"/vanilla-*.bin ;; esac
    if [ "$kind" = update ] && [ ! -e "$dir/partition-10.bin" ]; then set -- "$dir"/partition-?.bin; fi
    outcome "check $kind $size" 0 "inputs are right" "$cuzk" prove --kind "$kind" --input "$@" --statement "$dir/statement.json" \
        --check-only --strict
}
for kind in porep winning window update; do
    for size in 2KiB 32KiB 8MiB 32GiB 64GiB; do accepted $kind $size; done
done
accepted window 2KiB --registered-proof 5 --sectors 5
accepted porep 16KiB --layers 11 --registered-proof 0
accepted porep 2KiB --registered-proof 10
accepted porep 2KiB --registered-proof 15

for kind in porep window; do
    for seed in 1 01 2; do
        outcome "gen $kind seed $seed" 0 "inputs written" "$cuzk" gen --kind $kind --sector-size 2KiB --seed $seed --output "$work/$kind-s$seed"
    done
    check "$kind: the same files" diff -r "$work/$kind-s1" "$work/$kind-s01"
    check "$kind: other files" sh -c '! diff -r "$1" "$2" >"$3"' - "$work/$kind-s1" "$work/$kind-s2" "$work/diff"
done
outcome "not the other's statement" 3 '"class":"statement"' "$cuzk" prove --kind porep --input "$work/porep-s2/c1.json" \
    --statement "$work/porep-s1/statement.json" --check-only --json

# refused WHAT SAYS OPTION...
refused() {
    what=$1 says=$2
    shift 2
    outcome "$what" 2 "$says" "$cuzk" gen --seed 1 --output "$work/no" "$@"
}
refused "no size" "are needed" --kind porep
refused "no kind" "are needed" --sector-size 2KiB
refused "an unknown kind" "unknown kind snark" --kind snark --sector-size 2KiB
refused "no such size" "no sectors of 3072 bytes" --kind porep --sector-size 3KiB
refused "not a size" "2KiB, 8MiB, 32GiB" --kind porep --sector-size big
refused "a size without an end" "2KiB, 8MiB, 32GiB" --kind porep --sector-size 99999999999999999999
refused "sealing what is too large" "up to 8 MiB" --kind porep --sector-size 32GiB --registered-proof 13
refused "number of another size" "registered proof 6 is not of sectors" --kind porep --sector-size 2KiB --registered-proof 6
refused "number of another kind" "those of winning are 0 to 4" --kind winning --sector-size 2KiB --registered-proof 10
refused "two winning sectors" "one sector" --kind winning --sector-size 2KiB --sectors 2
refused "layers that do not exist" "has 3 layers" --kind porep --sector-size 2KiB --layers 3
refused "layers of a window" "layers are of a PoRep" --kind window --sector-size 2KiB --layers 2
check "no file of it" test ! -e "$work/no/statement.json"
