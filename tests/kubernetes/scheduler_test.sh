#!/usr/bin/env bash
# Muster's scheduler on a real kube-apiserver, with exactly the rights of docs/deploy/rbac.yaml: lone pods, gangs,
# racks, hand-over between two processes, kill -9.
. "$(dirname "$0")/lib.sh"

start_kubernetes_with_groups
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
for i in 1 2 3; do make_node "a-$i" ra; done
for i in 1 2 3; do make_node "b-$i" rb; done
port=$(free_port)
start_scheduler first --config "$WORK/config.yaml" --bind-address 127.0.0.1 --secure-port "$port"
first=$SCHEDULER_PID

# --- lone pods
for i in 1 2 3 4 5; do pod "lone-$i"; done | k create -f - >/dev/null
eventually "lone pods are bound" 60 5 bound lone-
expect "the server is asked for what it serves" "podgroups                    $GROUP_API" cat "$WORK/first.log"
case $KUBERNETES_VERSION in
  1.36) composites="not served" ;;
  *) composites=scheduling.k8s.io/v1alpha3 ;;
esac
expect "groups of groups included" "compositepodgroups           $composites" cat "$WORK/first.log"
pod huge 99 | k create -f - >/dev/null
condition() { k get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}' | grep -o '6 Insufficient cpu' | head -n 1; }
eventually "a pod that fits nowhere says so in its condition" 30 "6 Insufficient cpu" condition huge
expect "and in an event" "Insufficient cpu" k events --for pod/huge
expect "a pod that was bound has its event" "Successfully assigned default/lone-1 to" k events --for pod/lone-1
eventually "ready" 10 ok curl -sk "https://127.0.0.1:$port/readyz"
metrics() { curl -sk -w '%{http_code}' ${1:+-H "Authorization: Bearer $1"} "https://127.0.0.1:$port/metrics"; }
expect "metrics are for those who may read them" 'forbidden: User "system:anonymous" cannot get path "/metrics"' metrics
expect "not for an invented token" 401 metrics invented
k create serviceaccount prometheus >/dev/null
k create clusterrolebinding prometheus --clusterrole muster-metrics-reader --serviceaccount default:prometheus >/dev/null
expect "but for a service account that may" "scheduler_schedule_attempts_total" metrics "$(k create token prometheus)"
k create serviceaccount stranger >/dev/null
expect "and for no other" "403" metrics "$(k create token stranger)"
expect "it leads by its lease" "muster-scheduler" k -n kube-system get lease muster-scheduler

# --- a gang inside one rack
in_a_rack="schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}"
gang train 6 "$in_a_rack" | k create -f - >/dev/null
for i in 1 2 3 4 5; do pod "train-$i" 3 train; done | k create -f - >/dev/null
sleep 2
eventually "five of six are not begun" 5 0 bound train-
pod train-6 3 train | k create -f - >/dev/null
eventually "six of six are bound" 60 6 bound train-
eventually "all in one rack" 5 1 racks train-
eventually "the group says so in the words of this server" 30 True group_says train
gang wide 7 "$in_a_rack" | k create -f - >/dev/null
for i in 1 2 3 4 5 6 7; do pod "wide-$i" 3 wide; done | k create -f - >/dev/null
eventually "a gang beyond every rack waits whole" 30 False group_says wide
eventually "none of it is bound" 5 0 bound wide-

# --- two processes
start_scheduler second --config "$WORK/config.yaml" --secure-port 0
second=$SCHEDULER_PID
sleep 3
k label lease muster-scheduler -n kube-system team=a >/dev/null
kill -TERM "$first"
wait "$first"
pass_or_fail $? "SIGTERM is an orderly end" "code $?"
for i in 1 2 3; do pod "later-$i" 0.1; done | k create -f - >/dev/null
eventually "the second goes on within seconds" 20 3 bound later-
expect "a foreign label on the lease survives" "a" k get lease muster-scheduler -n kube-system -o 'jsonpath={.metadata.labels.team}'

# --- kill -9 while binding
for i in $(seq 40); do pod "crash-$i" 0.1; done | k create -f - >/dev/null
kill -KILL "$second"
wait "$second" 2>/dev/null
# A gang of which somebody who died had bound two of four, in the rack with more room.
roomy=$([ "$(nodes_of train- | cut -c1 | head -n 1)" = a ] && echo b || echo a)
gang half 4 "$in_a_rack" | k create -f - >/dev/null
for i in 1 2 3 4; do pod "half-$i" 0.5 half; done | k create -f - >/dev/null
for i in 1 2; do
  k create --raw "/api/v1/namespaces/default/pods/half-$i/binding" -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "half-$i"}, "target": {"kind": "Node", "name": "$roomy-$i"}}
END
done
start_scheduler third --config "$WORK/config.yaml" --secure-port 0
eventually "after kill -9 the next one finishes the work" 60 40 bound crash-
eventually "a gang that was left half bound is finished" 60 4 bound half-
rack_of_half() { nodes_of half- | cut -c1 | sort -u; }
eventually "in the rack where it began" 5 "$roomy" rack_of_half
bindings=$(grep -h '"subresource":"binding"' "$WORK/audit.json" | grep -o '"name":"[a-z]*-[0-9]*"[^}]*' | grep -c .)
twice=$(grep -h '"subresource":"binding"' "$WORK/audit.json" | grep '"code":201' | grep -o '"namespace":"default","name":"[^"]*"' | sort | uniq -d)
[ "$bindings" -gt 0 ] && [ -z "$twice" ]
pass_or_fail $? "no pod was bound twice" "$twice"

[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
