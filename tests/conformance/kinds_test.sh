#!/usr/bin/env bash
# Every kind by kubectl: made, listed, scaled, deleted with or without what depends on it.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 1 --nodes-per-rack 2
eventually "all nodes are Ready" "2" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

# What a fresh server has.
expect "the service of the server itself" "10.96.0.1" k get service kubernetes
eventually "the default account" "default" k get serviceaccount
eventually "the certificate authority" "BEGIN CERTIFICATE" k get configmap kube-root-ca.crt -o 'jsonpath={.data.ca\.crt}'
for resource in persistentvolumes storageclasses.storage.k8s.io csinodes.storage.k8s.io csidrivers.storage.k8s.io \
  csistoragecapacities.storage.k8s.io volumeattachments.storage.k8s.io resourceclaims.resource.k8s.io \
  resourceslices.resource.k8s.io deviceclasses.resource.k8s.io devicetaintrules.resource.k8s.io \
  replicasets.apps statefulsets.apps poddisruptionbudgets.policy endpointslices.discovery.k8s.io; do
  expect "a scheduler can list $resource" "No resources found" k get "$resource" -n empty-for-sure
done

# kubectl's own generators, most of which send protobuf.
expect "a namespace" "namespace/team created" k create namespace team
eventually "gets an account" "default" k get serviceaccount -n team
expect "a config map" "configmap/c created" k create configmap c --from-literal=a=1
expect "a secret" "secret/s created" k create secret generic s --from-literal=a=1
expect "is counted" "Opaque   1" k get secret s
expect "a quota" "resourcequota/q created" k create quota q --hard=pods=300
expect "a role" "role.rbac.authorization.k8s.io/r created" k create role r --verb=get --resource=pods
expect "a binding" "rolebinding.rbac.authorization.k8s.io/b created" k create rolebinding b --role=r --user=u
expect "shows its role" "Role/r" k get rolebinding b
expect "a service" "service/svc created" k create service clusterip svc --tcp=80:8080
expect "has a port" "80/TCP" k get service svc
expect "a deployment" "deployment.apps/web created" k create deployment web --image=nginx --replicas=2
expect "warns that nobody routes traffic" "nothing in this control plane acts on it" k create service clusterip svc2 --tcp=80:8080
eventually "shows its replicas" "2/2" k get deployment web
expect "scales" "deployment.apps/web scaled" k scale deployment web --replicas=5
eventually "and says so" "5/5" k get deployment web
expect "a job" "job.batch/once created" k create job once --image=busybox -- true
expect "a cron job" "cronjob.batch/often created" k create cronjob often --image=busybox --schedule='*/5 * * * *' -- true
expect "shows its schedule" "*/5 * * * *" k get cronjob often
expect "a bad schedule is refused" "expected exactly 5 fields" k create cronjob bad --image=busybox --schedule='soon' -- true
expect "a budget" "poddisruptionbudget.policy/pdb created" k create pdb pdb --selector=app=guarded --min-available=1
expect "get all shows them" "deployment.apps/web" k get all
expect "and jobs" "job.batch/once" k get all

# Budgets hold evictions back.
cat >"$WORK/guarded.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: guarded, labels: {app: guarded}}
spec: {containers: [{name: c, image: i}]}
YAML
expect "a guarded pod" "created" k apply -f "$WORK/guarded.yaml"
eventually "runs" "Running" k get pod guarded
eventually "its budget has looked" "1" k get pdb pdb -o 'jsonpath={.status.currentHealthy}'
node=$(k get pod guarded -o 'jsonpath={.spec.nodeName}')
expect "drain is held back" "would violate the pod's disruption budget" \
  timeout 20 "$KUBECTL" drain "$node" --force --timeout=3s
expect "the budget is lifted" "deleted" k delete pdb pdb
expect "and the node drains" "drained" k drain "$node" --force --timeout=30s

# Deletion goes down the tree, or stops at the top.
family() { # NAME: a config map and one that depends on it
  k create configmap "$1" >/dev/null
  uid=$(k get configmap "$1" -o 'jsonpath={.metadata.uid}')
  cat <<YAML | k apply -f - >/dev/null
apiVersion: v1
kind: ConfigMap
metadata:
  name: $1-child
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: $1, uid: $uid, blockOwnerDeletion: true}]
YAML
}
family back
expect "background" "deleted" k delete configmap back
eventually "takes the child later" "NotFound" k get configmap back-child
family fore
expect "foreground" "deleted" k delete configmap fore --cascade=foreground
expect "has taken the child first" "NotFound" k get configmap fore-child
family orphan
expect "orphan" "deleted" k delete configmap orphan --cascade=orphan
expect "leaves the child" "orphan-child" k get configmap orphan-child
expect "without its reference" "owners=[]" k get configmap orphan-child -o 'jsonpath=owners=[{.metadata.ownerReferences}]'

# A namespace goes with everything in it.
expect "a claim" "created" k apply -n team -f - <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
expect "the namespace" "deleted" k delete namespace team
expect "is gone" "NotFound" k get namespace team

# Third parties.
cat >"$WORK/set.yaml" <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  replicatedJobs:
  - name: workers
    replicas: 2
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c, image: i}]}}}}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: lws}
spec: {replicas: 2, leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {containers: [{name: c, image: i}]}}}}
YAML
expect "a JobSet" "jobset.jobset.x-k8s.io/js created" k apply -f "$WORK/set.yaml"
expect "has its columns" "TERMINALSTATE" k get jobset
expect "a LeaderWorkerSet scales" "scaled" k scale lws lws --replicas=3
expect "and is listed" "3" k get lws lws
expect "explain knows them" "replicatedJobs" k explain jobset.spec
