#!/usr/bin/env bash
# Preemption on a real kube-apiserver, with exactly the rights of docs/deploy/rbac.yaml: a pod evicts a lower pod, a gang
# evicts what it needs and no more, nobody evicts equals; then `muster uninstall` takes off what Muster left.
. "$(dirname "$0")/lib.sh"

start_kubernetes_with_groups
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
for name in low:10 high:1000; do
  k create priorityclass "${name%:*}" --value "${name#*:}" >/dev/null
done
for i in 1 2; do make_node "a-$i" ra; done
for i in 1 2; do make_node "b-$i" rb; done
start_scheduler first --config "$WORK/config.yaml" --secure-port 0

# --- four nodes of 8 cores, full of pods of 4
for i in $(seq 8); do pod "low-$i" 4 "" "priorityClassName: low"; done | k create -f - >/dev/null
eventually "the cluster is full" 60 8 bound low-

pod equal 4 "" "priorityClassName: low" | k create -f - >/dev/null
waits() { k get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].reason}'; }
eventually "a pod of equal priority waits" 30 Unschedulable waits equal
eventually "and nobody left for it" 5 8 bound low-
k delete pod equal >/dev/null

pod vip 4 "" "priorityClassName: high" | k create -f - >/dev/null
eventually "a higher pod is bound" 60 1 bound vip
eventually "one lower pod left" 10 7 bound low-
expect "the victim has its event" "Preempted" k get events -o 'jsonpath={.items[*].reason}'

# --- a gang of two pods of 8 cores needs one rack empty
k create -f - >/dev/null <<END
$(gang train 2 "schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}
  priorityClassName: high")
$(for i in 1 2; do pod "train-$i" 8 train "priorityClassName: high"; done)
END
eventually "a gang of higher priority is bound" 60 2 bound train-
eventually "in one rack" 5 1 racks train-
# The rack without the vip had four lower pods; the other one three.
eventually "only its rack was emptied" 10 3 bound low-
eventually "the vip stays" 5 1 bound vip

[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"

# --- taking it off again
"$MUSTER" uninstall --kubeconfig "$KUBECONFIG" >"$WORK/early.log" 2>&1
[ $? -eq 2 ]
pass_or_fail $? "uninstall is refused while the scheduler leads" "$(cat "$WORK/early.log")"
expect "and says who is in the way" "the lease kube-system/muster-scheduler is renewed" cat "$WORK/early.log"
kill -KILL "$SCHEDULER_PID"
k annotate podgroup train scheduling.muster.dev/expected-pods=2 other=kept >/dev/null
pod stays 8 "" "priorityClassName: low" | k create -f - >/dev/null
k patch pod stays --subresource status --type merge -p '{"status": {"nominatedNodeName": "a-1"}}' >/dev/null
expect "a dry run names what there is" "podgroup default/train: annotation scheduling.muster.dev/expected-pods: would be removed" \
  "$MUSTER" uninstall --kubeconfig "$KUBECONFIG" --dry-run
expect "and changes nothing" "2" k get podgroup train -o 'jsonpath={.metadata.annotations.scheduling\.muster\.dev/expected-pods}'
"$MUSTER" uninstall --kubeconfig "$KUBECONFIG" >"$WORK/uninstall.log" 2>&1
pass_or_fail $? "uninstall" "$(cat "$WORK/uninstall.log")"
expect "the nomination is named" "pod default/stays: nomination for node a-1: removed" cat "$WORK/uninstall.log"
eventually "ours is gone, others' stay" 5 '{"other":"kept"}' k get podgroup train -o 'jsonpath={.metadata.annotations}'
eventually "no nomination is left" 5 "" k get pod stays -o 'jsonpath={.status.nominatedNodeName}'
lease() { k get lease muster-scheduler -n kube-system -o name 2>&1 | grep -o NotFound; }
eventually "the lease is gone" 5 NotFound lease
expect "a second run finds nothing" "No object carries anything of Muster's" "$MUSTER" uninstall --kubeconfig "$KUBECONFIG"
