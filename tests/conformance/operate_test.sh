#!/usr/bin/env bash
# What somebody who runs `muster up` sees of it: the banner, names of the certificate, metrics of the process, the log of
# decisions, and flags that make no sense.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples" && pwd)
refused() { timeout 60 "$MUSTER" up --in-memory --listen 127.0.0.1:0 "$@" 2>&1; }

printf 'pools: [{zones: 2}, {zones: 1}]\n' >"$WORK/merged.yaml"
expect "pools whose names would merge" "two pools have no prefix" refused --cluster "$WORK/merged.yaml"
printf 'pools: []\n' >"$WORK/none.yaml"
expect "a file without nodes" "it describes no node" refused --cluster "$WORK/none.yaml"
expect "flags without nodes" "add --nodes-per-rack N" refused --zones 2
expect "a name that is none" "--tls-san a b: neither an address nor a host name" refused --tls-san "a b"

start() { start_muster --data-dir "$WORK/data" "$@"; }
banner() { head -n 1 "$WORK/muster.out"; }

start --nodes-per-rack 3 --tls-san muster.example.com,10.1.2.3 -v
expect "the banner counts" "with 3 pretend nodes" banner
eventually "all nodes are Ready" "3" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
server=$(k config view -o jsonpath='{.clusters[0].cluster.server}')
expect "the certificate has the name" "DNS:muster.example.com" bash -c \
  "openssl s_client -connect ${server#https://} </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName"
expect "and the address" "IP Address:10.1.2.3" bash -c \
  "openssl s_client -connect ${server#https://} </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName"
expect "metrics of the process" "process_resident_memory_bytes" k get --raw /metrics
expect "and its open files" "process_open_fds" k get --raw /metrics
k apply -f "$examples/pod.yaml" -f "$examples/too-wide-gang.yaml" >/dev/null
eventually "the pod runs" "Running" k get pod hello
eventually "the gang waits" "Unschedulable" k get podgroup wide
eventually "a decision is logged" "bound pod default/hello to z1-b1-r1-n" cat "$WORK/muster.err"
eventually "and a refusal" "refused podgroup default/wide: " cat "$WORK/muster.err"
stop_muster

start
expect "the banner counts what is there" "with 3 pretend nodes, 6 pods and 1 group" banner
expect_not "no decisions without -v" "bound pod" cat "$WORK/muster.err"
expect_not "no Warning on the loopback interface" "listening on" cat "$WORK/muster.err"
stop_muster

start_on() { # address and port
  : >"$WORK/muster.out"
  "$MUSTER" up --in-memory --listen "$1" --write-kubeconfig "$KUBECONFIG" >"$WORK/muster.out" 2>"$WORK/muster.err" &
  MUSTER_PID=$!
}
start_on "0.0.0.0:0"
eventually "a Warning beyond it" "listening on 0.0.0.0: other machines can reach this server" cat "$WORK/muster.err"
stop_muster
start_on "localhost:0"
eventually "localhost is an address" "serves on https://127.0.0.1:" cat "$WORK/muster.out"
