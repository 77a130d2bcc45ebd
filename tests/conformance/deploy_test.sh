#!/usr/bin/env bash
# The manifests of docs/deploy: all are accepted, the scheduler runs with the rights that they give, and with partition.yaml it
# keeps to its own nodes. tests/kubernetes does more of it on a real kube-apiserver.
. "$(dirname "$0")/lib.sh"
deploy=$(cd "$(dirname "$0")/../../docs/deploy" && pwd)
account=system:serviceaccount:kube-system:muster-scheduler

start_muster --in-memory --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi
for manifest in rbac scheduler controllers-rbac partition; do
  expect_not "$manifest.yaml is accepted" "rror" k apply -f "$deploy/$manifest.yaml"
done
# Here there is no ClusterRole system:auth-delegator, which rbac.yaml refers to: nobody reads /metrics.
expect_not "its account may do what a scheduler must do" "nothing is scheduled" "$MUSTER" doctor --as "$account"
expect_not "and be elected" "leases" "$MUSTER" doctor --as "$account"
expect "but not take kube-scheduler's lease" "get leases.coordination.k8s.io kube-scheduler" \
  "$MUSTER" doctor --as "$account" --lease kube-scheduler
expect "nor impersonate anybody" "cannot impersonate" "$MUSTER" doctor --as "$account" --kubeconfig <(
  k config view --raw --minify | sed '/client-\(certificate\|key\)-data/d' |
    sed "s|^  user:.*|  user: {token: $(k create token muster-scheduler -n kube-system)}|"
)

# --- nodes of its own, by the commands that partition.yaml names
node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}')
while read -r command; do
  expect "$command" "node/$node" k ${command/NODE…/"$node"}
done < <(sed -n 's/^#   kubectl \(label\|taint\) \(node NODE… [^ ]*\).*/\1 \2/p' "$deploy/partition.yaml")
k get configmap muster-scheduler -n kube-system -o 'jsonpath={.data.config\.yaml}' >"$WORK/config.yaml"
"$MUSTER" scheduler --kubeconfig "$KUBECONFIG" --config "$WORK/config.yaml" --secure-port 0 >"$WORK/scheduler.log" 2>&1 &
scheduler=$!
pod() { # NAME [more of its spec]
  cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  containers: [{name: main, image: app, resources: {requests: {cpu: "1"}}}]
${2:-}
---
END
}
for i in 1 2 3 4; do
  pod "ours-$i" "$(sed -n 's/^#   \(schedulerName\|tolerations\): /  \1: /p' "$deploy/partition.yaml")"
  pod "theirs-$i"
done | k create -f - >/dev/null
where() { k get pods -o 'jsonpath={range .items[*]}{.metadata.name}={.spec.nodeName} {end}'; }
eventually "its pods go to its node" "ours-1=$node ours-2=$node ours-3=$node ours-4=$node" where
expect "the others' run" "condition met" k wait --for=condition=Ready pod/theirs-1 pod/theirs-2 pod/theirs-3 pod/theirs-4 --timeout=60s
strangers() { where | tr ' ' '\n' | grep '^theirs-'; }
expect_not "but not there" "=$node" strangers
kill -TERM "$scheduler"
wait "$scheduler"
pass_or_fail $? "it ends in order" "$(tail -n 5 "$WORK/scheduler.log")"

# --- instead of kube-scheduler
expect_not "replace.yaml is accepted" "rror" k apply -f "$deploy/replace.yaml"
expect_not "with it the account may take kube-scheduler's lease" "leases" \
  "$MUSTER" doctor --as "$account" --lease kube-scheduler
k get configmap muster-scheduler -n kube-system -o 'jsonpath={.data.config\.yaml}' |
  sed 's/{leaderElect: true}/{resourceName: muster-scheduler}/' >"$WORK/own-lease.yaml"
expect "its configuration under another lease is refused" "so that the lease is kube-system/kube-scheduler" \
  timeout 30 "$MUSTER" scheduler --kubeconfig "$KUBECONFIG" --config "$WORK/own-lease.yaml" --secure-port 0
