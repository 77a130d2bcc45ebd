#!/usr/bin/env bash
# `muster explain` against a running cluster: the reason, what would help, and that it really helps.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples" && pwd)

# Two blocks of two racks of four nodes with eight GPUs.
start_muster --in-memory --zones 2 --racks-per-block 2 --nodes-per-rack 4 \
  --node-resources cpu=32,memory=128Gi,nvidia.com/gpu=8
eventually "all nodes are Ready" "16" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
explain() { timeout 60 "$MUSTER" explain "$@" 2>&1; }

# One node of every rack is out of service: a gang of four whole nodes finds no rack.
for rack in z1-b1-r1 z1-b1-r2 z2-b1-r1 z2-b1-r2; do k cordon "$rack-n4" >/dev/null; done
expect "the gang applies" "podgroup.scheduling.k8s.io/train created" k apply -f "$examples/gang.yaml"
eventually "it waits" "Unschedulable" k get podgroup train
expect "the dominant reason" \
  "PodGroup default/train is unschedulable: 0/4 placements are available, rack z1-b1-r1 comes closest: 3 of 4 pods fit" \
  explain podgroup train
expect "the proof" "no rack has room for more than 3 of the 4 pods" explain pg train
expect "the closest racks" "train: rack z2-b1-r2 fits 3 of 4 pods" explain pg/train
expect "what nodes say" "12/16 nodes have room for at least one: 4 node(s) were unschedulable" explain pg train
expect "a smaller minimum" "lower minCount of podgroup default/train from 4 to 3" explain pg train
expect "a wider topology" "spread over one block (topology.muster.dev/block) instead of one rack" explain pg train
expect "an opened node" "kubectl uncordon z" explain pg train
expect "more nodes" "add 1 node like z1-b1-r1-n1" explain pg train
expect "its pods fare with it" "Pod default/train-1 waits with its group. PodGroup default/train is" explain pod train-1
expect "for programs" '"state": "Unschedulable"' explain pg train -o json
expect "with the number" '"amount": 3' explain pg train -o json

# kubectl finds it as a plugin.
mkdir "$WORK/bin"
ln -s "$MUSTER" "$WORK/bin/kubectl-muster"
PATH=$WORK/bin:$PATH expect "kubectl muster explain" "PodGroup default/train is unschedulable" \
  k muster explain podgroup train
PATH=$WORK/bin:$PATH expect "it knows its name" '`kubectl muster help` shows' k muster explain --unheard-of
PATH=$WORK/bin:$PATH expect "without a name: everything that waits" "podgroup default/train" k muster explain

# What it advises, done word for word, helps.
command=$(explain pg train | sed -n 's/^ *kubectl uncordon/uncordon/p')
# shellcheck disable=SC2086 # the command's words
expect "the advice is followed" "uncordoned" k $command
eventually "and the gang runs" "4" bash -c "$KUBECTL get pods --no-headers | grep '^train' | grep -cw Running"
expect "which is told, with the place" "PodGroup default/train is scheduled: 4 of 4 pods" explain pg train
expect "and the nodes" "Runs on" explain pg train

# A smaller minimum, too.
sed 's/\btrain\b/again/g; s/train-/again-/g' "$examples/gang.yaml" | k apply -f - >/dev/null
eventually "another waits" "Unschedulable" k get podgroup again
command=$(explain pg again | sed -n 's/^ *kubectl \(.* patch .*\)/\1/p')
expect "the patch is printed" "minCount" echo "$command"
expect "it is accepted" "patched" bash -c "$KUBECTL $command"
eventually "three of four run" "3" bash -c "$KUBECTL get pods --no-headers | grep '^again' | grep -cw Running"

# Groups that wait for others.
k apply -f - >/dev/null <<'YAML'
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: orphan}
spec:
  parentCompositePodGroupName: nobody
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {gang: {minCount: 2}}
---
apiVersion: v1
kind: Pod
metadata: {name: orphan-0}
spec: {schedulingGroup: {podGroupName: orphan}, containers: [{name: c, image: i}]}
YAML
expect "below its minimum" "PodGroup default/orphan waits: composite pod group \"nobody\" does not exist" explain pg orphan
expect "the parent" "CompositePodGroup default/nobody cannot be tried" explain cpg nobody

# A tree that is wrong in itself is invalid in the scheduler's own words; one beside it is not.
k apply -f - >/dev/null <<'YAML'
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: mixed}
spec:
  workloadRef: {workloadName: w, templateName: root}
  schedulingPolicy: {gang: {minGroupCount: 1}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: stray}
spec:
  parentCompositePodGroupName: mixed
  workloadRef: {workloadName: v, templateName: t}
  schedulingPolicy: {gang: {minCount: 1}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: healthy}
spec: {schedulingPolicy: {gang: {minCount: 1}}}
---
apiVersion: v1
kind: Pod
metadata: {name: stray-0}
spec: {schedulingGroup: {podGroupName: stray}, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: healthy-0}
spec: {schedulingGroup: {podGroupName: healthy}, containers: [{name: c, image: i}]}
YAML
said() { k get podgroup stray -o 'jsonpath={.status.conditions[?(@.reason=="Invalid")].message}'; }
eventually "the scheduler refuses a tree of two Workloads" "belong to the same Workload" said
expect "which is explained in its words" "PodGroup default/stray is invalid: $(said)." explain pg stray
expect_not "and nothing else is advised" "What would help" explain pg stray
eventually "the group beside it is scheduled" "PodGroup default/healthy is scheduled" explain pg healthy

# Somebody with rights in one namespace gets an explanation, without the names of others.
k create namespace team >/dev/null
k create serviceaccount ann -n team >/dev/null
k create rolebinding ann -n team --clusterrole=view --serviceaccount=team:ann >/dev/null
token=$(k create token ann -n team)
cp "$KUBECONFIG" "$WORK/ann.kubeconfig"
as_ann() { KUBECONFIG=$WORK/ann.kubeconfig "$@"; }
as_ann k config set-credentials ann --token="$token" >/dev/null
as_ann k config set-context --current --user=ann --namespace=team >/dev/null
k apply -n team -f "$examples/too-wide-gang.yaml" >/dev/null
eventually "a gang of hers waits" "Unschedulable" k get podgroup wide -n team
expect "she learns why" "PodGroup team/wide is unschedulable" as_ann explain pg wide
expect "also for programs" '"state": "Unschedulable"' as_ann explain pg wide -o json
expect_not "and nothing of others" "default/" as_ann explain pg wide
expect "nothing of another namespace" "the server may not explain it to you" as_ann explain pg train -n default
expect "nor by planning here" "you may not list" as_ann explain pg train -n default
k apply -n team -f - >/dev/null <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: hers}
spec:
  parallelism: 2
  completions: 2
  completionMode: Indexed
  scheduling: {schedulingPolicy: {gang: {minCount: 2}}}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: app, resources: {requests: {cpu: "999"}}}]
YAML
eventually "a Job of hers waits" "Unschedulable" k get podgroups -n team
expect "she learns why, by the name of the Job" "is unschedulable: " as_ann explain job hers
expect "the endpoint by itself" '"kind":"Explanation"' as_ann bash -c \
  "echo '{}' | $KUBECTL create --raw /apis/scheduling.k8s.io/v1beta1/namespaces/team/podgroups/wide/explanation -f -"

# Pods of a scheduler that nothing is known of: planned like ours.
k create -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: elsewhere}
spec: {schedulerName: other, containers: [{name: main, image: app, resources: {requests: {cpu: "999"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere-small}
spec: {schedulerName: other, containers: [{name: main, image: app}]}
YAML
overview_of() { explain | grep "pod default/$1 "; } # NAME
expect "what asks for another scheduler waits for a reason, too" "nodes are available: " overview_of elsewhere
expect "or for that scheduler" "fits now       the scheduler other has to place it" overview_of elsewhere-small

# Refusals name the remedy.
expect "a name mistyped" "did you mean train?" explain pg tarin
expect "another kind" "there are explanations of podgroup (pg), compositepodgroup (cpg), pod (po), job, jobset" explain node x
expect "a Job that is not there" "there is no Job x in namespace default" explain job x
expect "no name" "which job should be explained? write \`muster explain job NAME\`" explain job
expect "another namespace" "did you mean train -n default?" explain pg train -n kube-system
expect "no kubeconfig" "name one with --kubeconfig FILE" env KUBECONFIG= "$MUSTER" explain pg train
expect "a wrong context" "there is muster" explain pg train --context production
server=$("$KUBECTL" config view -o 'jsonpath={.clusters[0].cluster.server}')
cat >"$WORK/nobody.kubeconfig" <<YAML
current-context: c
contexts: [{name: c, context: {cluster: k}}]
clusters: [{name: k, cluster: {server: "$server", insecure-skip-tls-verify: true}}]
YAML
expect "the rights that are missing" \
  "you may not list nodes, pods, podgroups.scheduling.k8s.io, compositepodgroups.scheduling.k8s.io in all namespaces" \
  explain pg train --kubeconfig "$WORK/nobody.kubeconfig"
stop_muster
expect "a server that is gone" "cannot reach the API server $server" explain pg train
