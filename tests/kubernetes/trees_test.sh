#!/usr/bin/env bash
# Groups of groups on a real kube-apiserver, with exactly the rights of docs/deploy/rbac.yaml: a tree is bound whole in one rack
# or not at all, says so at each of its groups, and leaves whole for somebody of higher priority. Jobs become gangs by the real
# Job controller, and are placed as such.
. "$(dirname "$0")/lib.sh"

needs_composites
start_kubernetes_with_groups
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
for name in low:10 high:1000 higher:2000; do
  k create priorityclass "${name%:*}" --value "${name#*:}" >/dev/null
done
for i in 1 2 3; do make_node "a-$i" ra; done
for i in 1 2 3; do make_node "b-$i" rb; done
port=$(free_port)
start_scheduler scheduler --config "$WORK/config.yaml" --secure-port "$port" --bind-address 127.0.0.1

# tree NAME: a composite of two groups that go together, inside one rack.
tree() {
  cat <<END
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: $1}
spec:
  workloadRef: {workloadName: $1, templateName: root}
  schedulingPolicy: {gang: {minGroupCount: 2}}
  schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}
  disruptionMode: {all: {}}
  priorityClassName: low
---
END
}
leaf() { # NAME TREE PODS: a gang below the tree, and its pods of half a node each
  gang "$1" "$3" "parentCompositePodGroupName: $2
  workloadRef: {workloadName: $2, templateName: leaf}
  disruptionMode: {all: {}}
  priorityClassName: low"
  for i in $(seq "$3"); do pod "$1-$i" 4 "$1" "priorityClassName: low"; done
}
tree_says() { # NAME: the status of its condition
  k get compositepodgroup "$1" -o 'jsonpath={.status.conditions[?(@.type=="CompositePodGroupInitiallyScheduled")].status}'
}

# --- whole or not at all
{ tree llm; leaf llm-prefill llm 3; } | k create -f - >/dev/null
sleep 3
eventually "a tree that lacks one of two groups is not begun" 1 "" tree_says llm
eventually "none of its pods is bound" 5 0 bound llm-
leaf llm-decode llm 3 | k create -f - >/dev/null
eventually "with both groups the tree is bound" 60 6 bound llm-
eventually "in one rack" 5 1 racks llm-
eventually "the tree says so" 30 True tree_says llm
eventually "and each of its groups" 30 True group_says llm-prefill
eventually "both of them" 30 True group_says llm-decode

{ tree wide; leaf wide-left wide 4; leaf wide-right wide 3; } | k create -f - >/dev/null
eventually "a tree beyond every rack waits whole" 30 False tree_says wide
eventually "none of it is bound" 5 0 bound wide-
expect "muster explain says what is missing" "together they do not fit: 6 of 7 pods do; short of 1 × cpu 4" \
  "$MUSTER" explain compositepodgroup wide --kubeconfig "$KUBECONFIG"
k delete pod -l '!x' --field-selector spec.nodeName= --wait=false >/dev/null
k delete compositepodgroup wide --wait=false >/dev/null
k delete podgroup wide-left wide-right --wait=false >/dev/null

# --- the tree is one unit of disruption
for i in 1 2 3; do pod "rest-$i" 8 "" "priorityClassName: higher"; done | k create -f - >/dev/null
eventually "the other rack is full" 60 3 bound rest-
pod vip 4 "" "priorityClassName: high" | k create -f - >/dev/null
eventually "a higher pod is bound" 60 1 bound vip
remain() { k get pods -o name | grep -c 'pod/llm-'; }
eventually "for which the tree left as a whole" 30 0 remain
disrupted() { k get compositepodgroup llm -o 'jsonpath={.status.conditions[?(@.type=="DisruptionTarget")].reason}'; }
eventually "and says why" 30 PreemptionByScheduler disrupted
k delete pod vip rest-1 rest-2 rest-3 --wait=false >/dev/null

# --- a Job that is a gang, by the real Job controller
run_in_background manager "$KUBERNETES" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false --secure-port 0 \
  --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" --controllers job-controller \
  --feature-gates GenericWorkload=true,WorkloadWithJob=true
job() { # NAME CPU
  cat <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  scheduling: {schedulingPolicy: {gang: {minCount: 3}}, schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}}
  template:
    spec:
      schedulerName: muster
      restartPolicy: Never
      containers: [{name: main, image: app, resources: {requests: {cpu: "$2"}}}]
END
}
job sweep 8 | k create -f - >/dev/null
eventually "the pods of a Job with a gang are bound" 90 3 bound sweep-
eventually "in one rack" 5 1 racks sweep-
group_of() { k get pods -l "job-name=$1" -o 'jsonpath={.items[0].spec.schedulingGroup.podGroupName}'; }
eventually "by the group that the Job controller made" 5 True group_says "$(group_of sweep)"
pod corner 1 "" "nodeSelector: {topology.kubernetes.io/rack: $([ "$(nodes_of sweep- | cut -c1 | head -n 1)" = a ] && echo rb || echo ra)}" |
  k create -f - >/dev/null
eventually "somebody takes a corner of the other rack" 30 1 bound corner
job late 8 | k create -f - >/dev/null
made() { k get pods -l job-name=late -o name | grep -c .; }
eventually "another Job has its pods" 60 3 made
waits() { group_says "$(group_of late)"; }
eventually "and waits whole for a rack" 30 False waits
eventually "with no pod bound" 5 0 bound late-

[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
