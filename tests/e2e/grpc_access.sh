# e2e/grpc_access.sh - who may come in over gRPC: networks in plain, TLS, client certificates, tokens and their scopes, reload
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP grpc_access: this build has no service"
    exit 0
    ;;
esac
for tool in openssl node; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "SKIP grpc_access: no $tool (tools/install_deps check-all)"
        exit 0
    fi
done
# An address of this machine that is not loopback: to reach it from here is to come from it.
ip=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m 1 '^[0-9.]*$')
if [ -z "$ip" ]; then
    echo "SKIP grpc_access: this machine has loopback alone"
    exit 0
fi
m=$(fixture circom/bn128/mult3)
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$work"' EXIT

# conf LINE...: the configuration, with these lines of its [daemon]
conf() {
    {
        echo "[daemon]"
        printf '%s\n' "$@"
        printf '[store]\nurl = "sqlite://%s/jobs.db"\n[circuits.mult3]\nzkey = "%s/circuit.zkey"\n' "$work" "$m"
    } >"$work/c.toml"
}

# listens: the daemon has said where, or has ended
listens() {
    port=$(sed -n 's/^gRPC: .*:\([0-9]*\)$/\1/p' "$work/addresses" | head -n 1)
    [ -n "$port" ] || ! kill -0 $pid 2>/dev/null
}
# start: the daemon; the port of its first address in $port
start() {
    : >"$work/addresses"
    "$cuzk" serve --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
    pid=$!
    soon listens
}
stop() {
    kill -TERM $pid
    wait $pid
    pid=
}
told_more() { [ "$(grep -c reload "$work/log")" -gt "$1" ]; }
# reload: as SIGHUP does, until the log says so
reload() {
    before=$(grep -c reload "$work/log")
    kill -HUP $pid
    soon told_more "$before"
}
cert() { # NAME CA-NAME: key and certificate of $ip, signed by the authority
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.csr" 2>/dev/null
    printf 'subjectAltName=IP:%s,IP:127.0.0.1\n' "$ip" >"$work/ext"
    openssl x509 -req -in "$work/$1.csr" -CA "$work/$2.pem" -CAkey "$work/$2.key" -CAcreateserial -days 2 -extfile "$work/ext" \
        -out "$work/$1.pem" 2>/dev/null
}
ca() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -keyout "$work/$1.key" \
        -out "$work/$1.pem" 2>/dev/null
}
status() { "$cuzk" status --address "$@"; }

# ---- plain ----
conf 'listen = "0.0.0.0:0"'
start
outcome "plain: loopback comes in" 0 "device cpu" status "127.0.0.1:$port"
outcome "plain: another network does not" 6 "no daemon answers" status "$ip:$port"
check "the log says why, and who" grep -q "grpc_peer_refused.*$ip:[0-9]* is not in daemon.plaintext_from" "$work/log"
conf 'listen = "0.0.0.0:0"' "plaintext_from = [\"$ip/32\"]"
reload
outcome "plaintext_from, after SIGHUP: it does" 0 "device cpu" status "$ip:$port"
cat >"$work/kept.js" <<'END'
const grpc = require(process.env.CUZK_JUDGES + '/node_modules/@grpc/grpc-js');
const client = new grpc.Client(process.argv[2], grpc.credentials.createInsecure());
const ask = done => client.makeUnaryRequest('/cuzk.v1.ProvingEngine/GetStatus', x => x, x => x, Buffer.alloc(0), new grpc.Metadata(),
    {deadline: Date.now() + 600000}, (e, a) => { console.log(e ? `code ${e.code} ${e.details}` : `answered ${a.length > 0}`); done(); });
ask(() => process.stdin.once('data', () => ask(() => process.exit(0))));
END
if [ -d "$CUZK_JUDGES/node_modules/@grpc/grpc-js" ]; then
    mkfifo "$work/again"
    node "$work/kept.js" "$ip:$port" <"$work/again" >"$work/kept" 2>&1 &
    kept=$!
    exec 3>"$work/again"
    soon grep -q answered "$work/kept"
fi
conf 'listen = "0.0.0.0:0"'
reload
outcome "taken back: it does not" 6 "no daemon answers" status "$ip:$port"
if [ -d "$CUZK_JUDGES/node_modules/@grpc/grpc-js" ]; then
    echo again >&3
    exec 3>&-
    wait $kept
    outcome "taken back: a connection from before came in" 0 "answered true" cat "$work/kept"
    outcome "and serves nothing more" 0 "code 7 $ip:" cat "$work/kept"
fi
stop

# ---- TLS and tokens ----
ca one
ca two
cert server one
cert client one
tls="tls_cert = \"$work/server.pem\""
key="tls_key = \"$work/server.key\""
conf 'listen = "0.0.0.0:0"' "$tls" "$key"
outcome "TLS that lets anyone in is refused" 3 "anyone" "$cuzk" serve --config "$work/c.toml"
conf 'listen = "127.0.0.1:0"' "$tls" "tls_key = \"$work/client.key\""
outcome "a key that does not fit its certificate is refused" 4 "do not fit" "$cuzk" serve --config "$work/c.toml"
printf -- '-----BEGIN CERTIFICATE-----\nrubbish\n' >"$work/bad.pem"
conf 'listen = "127.0.0.1:0"' "tls_cert = \"$work/bad.pem\"" "$key"
outcome "a certificate that is none is refused" 4 "do not fit" "$cuzk" serve --config "$work/c.toml"
hash_of() { printf %s "$1" | sha256sum | cut -d' ' -f1; }
printf '%s read panel\n%s prove,read curio\n%s prove rival\n%s prove,operate,read chief\n' "$(hash_of reader)" "$(hash_of prover)" \
    "$(hash_of rival)" "$(hash_of chief)" >"$work/tokens"
conf 'listen = "0.0.0.0:0"' "$tls" "$key" "tokens_file = \"$work/tokens\""
start
far=tls://$ip:$port
outcome "TLS: no token" 6 "bearer token" status "$far" --tls-ca "$work/one.pem"
CUZK_TOKEN=reader
export CUZK_TOKEN
outcome "TLS: a token that may read" 0 "device cpu" status "$far" --tls-ca "$work/one.pem"
outcome "it may not prove" 6 'lacks the scope `prove`' "$cuzk" submit --circuit mult3 --input "$m/witness.wtns" --address "$far" --tls-ca "$work/one.pem"
outcome "it may not operate" 6 'lacks the scope `operate`' "$cuzk" evict mult3 --address "$far" --tls-ca "$work/one.pem"
check "a call's line says who" grep -q " grpc method=EvictSRS .*peer=$ip:[0-9]" "$work/log"
outcome "another authority's certificate is not believed" 6 "no daemon answers" status "$far" --tls-ca "$work/two.pem"
outcome "plain to a TLS socket" 6 "no daemon answers" status "$ip:$port"
CUZK_TOKEN=prover
outcome "a token that may prove" 0 '"completed"' "$cuzk" submit --json --circuit mult3 --input "$m/witness.wtns" --address "$far" --tls-ca "$work/one.pem"
id=$(grep -o '"job_id":"[^"]*"' "$work/out" | head -n 1 | cut -d'"' -f4)
CUZK_TOKEN=rival
outcome "owners: another token that may prove does not find the job" 6 "no job $id" "$cuzk" wait "$id" --address "$far" --tls-ca "$work/one.pem"
outcome "owners: nor may it cancel it" 6 "no job $id" "$cuzk" cancel "$id" --address "$far" --tls-ca "$work/one.pem"
CUZK_TOKEN=prover
outcome "owners: its own token does" 0 "completed" "$cuzk" wait "$id" --address "$far" --tls-ca "$work/one.pem"
outcome "owners: a token finds nothing of nobody's" 6 "no job none" "$cuzk" cancel none --address "$far" --tls-ca "$work/one.pem"
CUZK_TOKEN=chief
outcome "owners: one that may operate too" 0 "completed" "$cuzk" wait "$id" --address "$far" --tls-ca "$work/one.pem"
CUZK_TOKEN=rival
outcome "one that may not ask for the class of a failure" 3 '"ok":false' "$cuzk" submit --circuit mult3 --input "$m/circuit.zkey" --json \
    --quiet --address "$far" --tls-ca "$work/one.pem"
check "tells it as one JSON object" python3 -m json.tool "$work/out" /dev/null
CUZK_TOKEN=guess
outcome "a token that is none" 6 "bearer token" status "$far" --tls-ca "$work/one.pem"
check "no token is in the log" sh -c '! grep -q "reader\|prover\|guess\|rival\|chief" "$1"' - "$work/log"
CUZK_TOKEN=reader
cert server two
reload
outcome "a new certificate after SIGHUP" 0 "device cpu" status "$far" --tls-ca "$work/two.pem"
stop
unset CUZK_TOKEN

# ---- client certificates ----
cert server one
conf 'listen = "0.0.0.0:0"' "$tls" "$key" "tls_client_ca = \"$work/one.pem\""
start
cert stranger two
cat >"$work/mtls.js" <<'END'
const grpc = require(process.env.CUZK_JUDGES + '/node_modules/@grpc/grpc-js'), fs = require('fs');
const [address, dir, name] = process.argv.slice(2), read = f => fs.readFileSync(`${dir}/${f}`);
const creds = name ? grpc.credentials.createSsl(read('one.pem'), read(name + '.key'), read(name + '.pem')) : grpc.credentials.createSsl(read('one.pem'));
new grpc.Client(address, creds).makeUnaryRequest('/cuzk.v1.ProvingEngine/GetStatus', x => x, x => x, Buffer.alloc(0), new grpc.Metadata(),
    {deadline: Date.now() + 5000}, (e, a) => { console.log(e ? `code ${e.code}` : `answered ${a.length > 0}`); process.exit(0); });
END
if [ -d "$CUZK_JUDGES/node_modules/@grpc/grpc-js" ]; then
    outcome "a client certificate comes in without a token" 0 "answered true" node "$work/mtls.js" "$ip:$port" "$work" client
    outcome "a stranger's does not" 0 "code 14" node "$work/mtls.js" "$ip:$port" "$work" stranger
    outcome "nor a client without one" 0 "code 14" node "$work/mtls.js" "$ip:$port" "$work"
else
    echo "SKIP client certificates: @grpc/grpc-js is not installed (tools/install_deps check-all)"
fi
stop
