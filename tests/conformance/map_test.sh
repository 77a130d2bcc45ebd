#!/usr/bin/env bash
# `muster map` and `muster explain` without a name: what is where, and what waits, at one glance.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples" && pwd)
map() { timeout 60 "$MUSTER" map "$@" 2>&1; }
explain() { timeout 60 "$MUSTER" explain "$@" 2>&1; }

start_muster --in-memory --zones 2 --racks-per-block 2 --nodes-per-rack 4 \
  --node-resources cpu=32,memory=128Gi,nvidia.com/gpu=8
eventually "all nodes are Ready" "16" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
expect "nothing waits" "Nothing waits." explain
expect "an empty cluster" "16 nodes; nvidia.com/gpu: 0 of 128 used, 128 free, 128 of them on 16 empty nodes" map
k apply -f "$examples/gang.yaml" >/dev/null
eventually "the gang runs" "Scheduled" k get podgroup train
rack=$(k get node "$(k get pod train-0 -o jsonpath='{.spec.nodeName}')" -o jsonpath='{.metadata.labels.topology\.kubernetes\.io/rack}')
expect "its rack is full of it" "rack $rack  32/32  AAAAAAAA AAAAAAAA AAAAAAAA AAAAAAAA" map
expect "the legend names it" "A podgroup default/train  4 pods, 32 gpu on 4 nodes" map
expect "no colours into a pipe" "AAAAAAAA" map
expect "colours on request" $'\033[30;44mA' map --color always
expect "a level" "zone z1" map --depth zone
expect "a line per node" "$(k get pod train-0 -o jsonpath='{.spec.nodeName}')" map --depth node
expect "another resource" "cpu: 16 of 512 used" map --resource cpu
expect "a depth that is no level" "there are zone, block, rack, node" map --depth racks
expect "a resource that no node has" "did you mean nvidia.com/gpu?" map --resource nvidia.com/gpus
k cordon z2-b1-r2-n4 >/dev/null
expect "a closed node" "xxxxxxxx" map

k apply -f "$examples/too-wide-gang.yaml" >/dev/null
eventually "the other waits" "Unschedulable" k get podgroup wide
expect "it has a line" "podgroup default/wide  5 of 5  0         0      unschedulable  0/4 placements are available" explain
expect "a total" "1 tree waits, in the order of the queue" explain
expect "for programs" '"state": "Unschedulable"' explain -o json
expect "of one namespace" "Nothing waits." explain -n kube-system
expect "the map counts them" "5 pods wait for a node" map

# Somebody without rights learns which are missing.
k create serviceaccount nobody >/dev/null
token=$(k create token nobody)
k config set-credentials nobody --token="$token" >/dev/null
k config set-context nobody --cluster="$(k config view -o jsonpath='{.clusters[0].name}')" --user=nobody >/dev/null
expect "missing rights are named" "you may not list nodes, pods" map --context nobody
