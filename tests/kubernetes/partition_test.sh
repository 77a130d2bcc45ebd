#!/usr/bin/env bash
# Muster beside the real kube-scheduler, as docs/deploy/partition.yaml has it: a taint and addedAffinity keep their nodes
# apart. Both are busy at once; no pod ends up on the other's nodes, and no node beyond what it has.
. "$(dirname "$0")/lib.sh"

start_kubernetes
k apply -f "$ROOT/docs/deploy/partition.yaml" >/dev/null
configuration >"$WORK/config.yaml"
for i in 1 2 3 4; do
  make_node "ours-$i" ra 10
  k label node "ours-$i" pool=muster >/dev/null
  k taint node "ours-$i" pool=muster:NoSchedule >/dev/null
done
for i in 1 2 3 4; do make_node "theirs-$i" rb 10; done
start_scheduler first --config "$WORK/config.yaml" --secure-port 0
write_kubeconfig "$WORK/kube.kubeconfig" kube-token
run_in_background kube-scheduler "$KUBERNETES" kube-scheduler --kubeconfig "$WORK/kube.kubeconfig" --secure-port 0 \
  --authentication-kubeconfig "$WORK/kube.kubeconfig" --authorization-kubeconfig "$WORK/kube.kubeconfig"

tolerated='tolerations: [{key: pool, operator: Equal, value: muster, effect: NoSchedule}]'
for i in $(seq 50); do
  pod "ours-$i" 1 "" "$tolerated"
  pod "theirs-$i" 1 | sed 's/schedulerName: muster/schedulerName: default-scheduler/'
done | k create -f - >/dev/null
# Four nodes of ten cores each: forty of fifty find a place with either of them.
eventually "Muster fills its nodes" 120 40 bound ours-
eventually "kube-scheduler fills the others" 120 40 bound theirs-
sleep 3
strangers() { k get pods -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}' |
  awk '$2 && substr($1, 1, 4) != substr($2, 1, 4)'; }
eventually "no pod is on the other's nodes" 5 "" strangers
crowded() { nodes_of "" | grep . | sort | uniq -c | awk '$1 > 10'; }
eventually "no node holds more than it has" 5 "" crowded
eventually "and nobody was bound beyond that" 5 40 bound ours-

# --- somebody who does not look binds a pod to a node that is full
pod extra 5 | sed 's/schedulerName: muster/schedulerName: nobody/' | k create -f - >/dev/null
k create --raw "/api/v1/namespaces/default/pods/extra/binding" -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "extra"}, "target": {"kind": "Node", "name": "ours-1"}}
END
said() { k get events -A --field-selector involvedObject.name=ours-1,reason=Overcommitted -o name | grep -c .; }
eventually "a node beyond what it has is reported within five seconds" 5 1 said
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
