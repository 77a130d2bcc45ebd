#!/usr/bin/env bash
# Quotas and limits of namespaces, and of all objects together, by kubectl.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 1 --nodes-per-rack 3 --node-resources cpu=8,memory=32Gi --max-stored-memory 8
eventually "all nodes are Ready" "3" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

k create namespace team >/dev/null
expect_not "a quota is acted on" "nothing in this control plane acts on it" k -n team create quota q --hard=pods=2,requests.cpu=3,count/configmaps=2
cat >"$WORK/limits.yaml" <<'YAML'
apiVersion: v1
kind: LimitRange
metadata: {name: l}
spec:
  limits:
  - {type: Container, max: {cpu: "2"}, defaultRequest: {cpu: 500m}}
YAML
expect_not "so are limits" "nothing in this control plane acts on it" k -n team apply -f "$WORK/limits.yaml"
expect "a pod that says nothing" "created" k -n team run a --image=a
expect "gets the defaults" "500m" k -n team get pod a -o 'jsonpath={.spec.containers[0].resources.requests.cpu}'
expect "the quota knows at once" "1/2 500m" k -n team get quota q -o 'jsonpath={.status.used.pods}/{.status.hard.pods} {.status.used.requests\.cpu}'
expect "a pod beyond the limits" "maximum cpu usage per Container is 2, but limit is 3" k -n team run b --image=b --overrides='{"spec":{"containers":[{"name":"b","image":"b","resources":{"limits":{"cpu":"3"}}}]}}'
expect "a Deployment of three" "created" k -n team create deployment web --image=web --replicas=3
eventually "one pod fits" "1/3" k -n team get deployment web
eventually "the set says why" "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" k -n team get replicaset -o 'jsonpath={.items[0].status.conditions[0].message}'
eventually "so does the Deployment" "FailedCreate" k -n team get deployment web -o 'jsonpath={.status.conditions[?(@.type=="ReplicaFailure")].reason}'
expect "with more room" "patched" k -n team patch quota q --type=merge -p '{"spec":{"hard":{"pods":"9"}}}'
eventually "all run" "3/3" k -n team get deployment web
expect "kubectl shows what they use" "requests.cpu: 2/3" k -n team get quota q

# Twice what a namespace has, and all the rest, must fit into 8 MiB: four maps of 1 MB do at most.
head -c 1000000 /dev/zero | tr '\0' x >"$WORK/megabyte"
create_maps() { for n in 1 2 3 4 5; do k create configmap "map-$n" --from-file=a="$WORK/megabyte"; done >"$WORK/maps" 2>&1; }
create_maps
expect "one map of 1 MB" "configmap/map-1 created" cat "$WORK/maps"
expect "not five of them" "raise --max-stored-memory" cat "$WORK/maps"
