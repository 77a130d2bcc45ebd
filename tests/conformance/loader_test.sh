#!/usr/bin/env bash
# T1: the load generator makes its own nodes, then pods and gangs that are bound to them.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory

load() { timeout 120 "$MUSTER_LOADER" --kubeconfig "$KUBECONFIG" --connections 4 --patience 60 --nodes 6 --nodes-per-rack 3 "$@" 2>&1; }

out=$(load pods --pods 40)
pass_or_fail $? "pods are bound to the loader's nodes" "$out"
expect "it says that its nodes have no leases" "no leases" echo "$out"
expect "its nodes are left where they are" "6" bash -c "$KUBECTL get nodes --no-headers | grep -c Ready"
out=$(load --clean --rack gangs --groups 4 --group-size 3)
pass_or_fail $? "gangs are bound inside a rack each" "$out"
expect "--clean takes the nodes of its run away" "6" bash -c "$KUBECTL get nodes --no-headers | wc -l"
