# e2e/gen_prove.sh - made-up inputs proved and verified: every kind of 2 KiB sectors, and a WinningPoSt of a 32 GiB one
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

# proved CIRCUIT KIND SIZE FILES: a fresh key, inputs, proof, and its verification; another sector's statement does not verify
proved() {
    circuit=$1 kind=$2 size=$3 files=$4 params=$work/params-$1 a=$work/$1-a b=$work/$1-b
    outcome "setup $circuit" 0 "key written" "$cuzk" setup --circuit "$circuit" --params "$params"
    outcome "gen $circuit" 0 "inputs written" "$cuzk" gen --kind "$kind" --sector-size "$size" --seed 5 --output "$a"
    outcome "gen another $circuit" 0 "inputs written" "$cuzk" gen --kind "$kind" --sector-size "$size" --seed 6 --output "$b"
    outcome "prove $circuit" 0 "proved and verified" "$cuzk" prove --kind "$kind" --input "$a"/$files --statement "$a/statement.json" \
        --params "$params" --proof "$work/p.bin" --strict
    outcome "verify $circuit" 0 valid "$cuzk" verify --kind "$kind" --statement "$a/statement.json" --params "$params" --proof "$work/p.bin"
    outcome "another statement of $circuit" 1 "NOT VALID" "$cuzk" verify --kind "$kind" --statement "$b/statement.json" \
        --params "$params" --proof "$work/p.bin"
    rm -rf "$params"
}
proved window-2k window 2KiB 'vanilla-*.bin'
proved winning-2k winning 2KiB vanilla-0.bin
proved winning-32g winning 32GiB vanilla-0.bin
proved update-2k update 2KiB partition-0.bin
proved porep-2k porep 2KiB c1.json
