# e2e/outputs.sh - where results go: links, the same path twice, inputs, folders that are not there, a full stdout
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

m=$(fixture circom/bn128/mult3)
prove() { "$cuzk" prove "$m/circuit.zkey" "$m/witness.wtns" "$@"; }
cd "$work" || exit 1
cp "$m/circuit.r1cs" c.r1cs

# ---- links ----
mkdir there
echo old >there/p
ln -s there/p p
ln -s there/q q
outcome "outputs that are links" 0 "proved" prove p q
check "the links stay" test -L p -a -L q
outcome "and what they lead to is written" 0 "valid" "$cuzk" verify "$m/verification_key.json" there/q there/p
ln -s /proc/self/fd/1 stdout # as /dev/stdout
outcome "an open file as output" 4 "an open file of a process" prove stdout q2
check "stays a link" test -L stdout
check "and nothing is written" test ! -e q2
ln -s loop loop
outcome "a link to itself" 4 "Too many levels" prove loop q2

# ---- the same path twice, an output that is an input ----
outcome "the same output twice" 2 "same" prove same same
outcome "by another name" 2 "./same" prove same ./same
ln -s same link
outcome "by a link" 2 "two results" prove same link --json
check "nothing is written" test ! -e same
outcome "a key over its circuit" 2 "c.r1cs" "$cuzk" setup c.r1cs c.r1cs vk.json
outcome "a verifying key over it" 2 "c.r1cs" "$cuzk" setup c.r1cs k.zkey ./c.r1cs
outcome "a verifying key over the key" 2 "k.zkey" "$cuzk" setup c.r1cs k.zkey k.zkey
check "the circuit is as it was" cmp -s c.r1cs "$m/circuit.r1cs"
check "and no key is there" test ! -e k.zkey
cp "$m/witness.wtns" w.wtns
outcome "a proof over the witness" 2 "w.wtns" "$cuzk" prove "$m/circuit.zkey" w.wtns w.wtns q2
outcome "a trace over the witness" 2 "w.wtns" "$cuzk" prove "$m/circuit.zkey" w.wtns p2 q2 --trace w.wtns
outcome "a trace over the proof" 2 "p2" prove p2 q2 --trace p2
outcome "a Filecoin proof over its input" 2 "w.wtns" "$cuzk" prove --kind window --input w.wtns --statement s.json --params . --proof w.wtns
outcome "one over its statement" 2 "w.wtns" "$cuzk" prove --kind window --input x --statement w.wtns --params . --proof w.wtns
outcome "an aggregate over a proof" 2 "w.wtns" "$cuzk" aggregate --statements s.json --proofs w.wtns --params . -o w.wtns
outcome "a trace over what is verified" 2 "there/p" "$cuzk" verify "$m/verification_key.json" there/q there/p --trace there/p
check "the witness is as it was" cmp -s w.wtns "$m/witness.wtns"

# ---- what cannot be written is found before the work: the inputs here are not even there ----
outcome "proof" 4 "none/p" "$cuzk" prove nokey nowitness none/p q2
outcome "public signals" 4 "none/q" "$cuzk" prove nokey nowitness p2 none/q
outcome "a Filecoin proof" 4 "none/p" "$cuzk" prove --kind window --input x --statement nothere.json --params . --proof none/p
outcome "an aggregate" 4 "none/a" "$cuzk" aggregate --statements nothere.json --proofs x --params . -o none/a
outcome "a key" 4 "none/k" "$cuzk" setup nothere.r1cs none/k
outcome "a verifying key" 4 "none/vk" "$cuzk" setup nothere.r1cs k.zkey none/vk
outcome "a folder as output" 4 "there: it is a folder" "$cuzk" prove nokey nowitness there q2
outcome "a trace" 4 '"ok":false' prove p2 q2 --json --trace none/t
check "its failure is one JSON object" python3 -m json.tool out /dev/null
check "then there is no proof" test ! -e p2
outcome "a trace of inspect" 4 "none/t" "$cuzk" inspect c.r1cs --trace none/t
check "nothing is left over" sh -c '! ls -A . there | grep -q "cuzk-.*tmp"'

# ---- streams ----
# Into a file that may not grow, as on a full disk; nor may what outcome keeps of stderr.
full() { (trap '' XFSZ && ulimit -f 0 && "$@" >full); }
outcome "a full stdout: version" 4 "" full "$cuzk" version
outcome "a full stdout: help" 4 "" full "$cuzk" prove --help
outcome "a full stdout: inspect" 4 "" full "$cuzk" inspect c.r1cs
outcome "a full stdout: usage" 2 "" full "$cuzk" prove --json
"$cuzk" setup --circuit winning-2k --params closed 0<&- 1>&- 2>&- &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(readlink /proc/$pid/fd/2)" != /dev/null ]; do :; done
check "closed descriptors lead nowhere" test "$(readlink /proc/$pid/fd/0)$(readlink /proc/$pid/fd/1)" = /dev/null/dev/null
kill $pid
wait $pid || : # by the signal
