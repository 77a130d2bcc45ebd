#!/usr/bin/env bash
# A gang that somebody who died left half bound, and that cannot be finished: with --release-half-bound-after its bound pods are
# deleted, so that others find room, and the gang starts whole once there is room. One that was whole once is not touched.
. "$(dirname "$0")/lib.sh"

start_kubernetes_with_groups
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
uid() { k get pod "$1" -o 'jsonpath={.metadata.uid}'; }
for i in 1 2; do make_node "a-$i" ra 3; done

# --- a gang that was whole, and loses a pod
start_scheduler first --config "$WORK/config.yaml" --secure-port 0
first=$SCHEDULER_PID
gang whole 2 | k create -f - >/dev/null
for i in 1 2; do pod "whole-$i" 1 whole; done | k create -f - >/dev/null
eventually "a gang is bound" 60 True group_says whole
k delete pod whole-2 --wait=false >/dev/null
kill -KILL "$first"
wait "$first" 2>/dev/null

# --- a gang of which two of four were bound; for the others there is no room
gang half 4 | k create -f - >/dev/null
for i in 1 2 3 4; do pod "half-$i" 2 half; done | k create -f - >/dev/null
for i in 1 2; do
  k create --raw "/api/v1/namespaces/default/pods/half-$i/binding" -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "half-$i"}, "target": {"kind": "Node", "name": "a-$i"}}
END
done
before=$(uid whole-1)
start_scheduler second --config "$WORK/config.yaml" --secure-port 0 --release-half-bound-after 8s
remain() { k get pods -o name | grep -c 'pod/half-'; }
eventually "what is bound is deleted after a while" 90 2 remain
eventually "and only that" 5 0 bound half-
marked() { grep -h '"username":"system:serviceaccount:kube-system:muster-scheduler"' "$WORK/audit.json" | grep '"verb":"patch"' |
  grep '"subresource":"status"' | grep -o '"name":"half-[12]"' | sort -u | wc -l; }
eventually "after it was marked as disrupted" 5 2 marked
[ "$(uid whole-1)" = "$before" ]
pass_or_fail $? "the gang that was whole once is not touched" "$(k get pods)"

# --- room again, and what a controller would have made instead
pod big 2 | k create -f - >/dev/null
eventually "others have the room" 60 1 bound big
for i in 3 4 5 6; do make_node "a-$i" ra 3; done
for i in 1 2; do pod "half-$i" 2 half; done | k create -f - >/dev/null
eventually "with room the gang is bound whole" 60 4 bound half-
eventually "and says so" 30 True group_says half
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
