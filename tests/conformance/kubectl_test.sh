#!/usr/bin/env bash
# What people do with kubectl besides running pods: every verb once, against every kind of answer.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --nodes-per-rack 2 --node-resources cpu=8,memory=16Gi

cat >"$WORK/config.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: demo}}
data: {mode: fast, size: "3"}
YAML
cat >"$WORK/pod.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: demo}}
spec:
  containers: [{name: main, image: "nginx:1.27", resources: {requests: {cpu: 100m}}}]
YAML

# --- create, get, describe, explain
expect "create a ConfigMap" "configmap/settings created" k create -f "$WORK/config.yaml"
expect "generators work" "secret/token created" k create secret generic token --from-literal=key=value
expect "so do quick ones" "configmap/quick created" k create configmap quick --from-literal=a=b
expect "a service" "service/web created" k create service clusterip web --tcp=80
expect "a service account" "serviceaccount/robot created" k create serviceaccount robot
expect "a quota" "resourcequota/small created" k create quota small --hard=pods=1000
expect "a priority class" "priorityclass.scheduling.k8s.io/high created" k create priorityclass high --value=1000
expect "a namespace" "namespace/lab created" k create namespace lab
expect "its service account comes by itself" "default" k get serviceaccounts -n lab
expect "get -o name" "configmap/settings" k get configmaps -o name
expect "get -o jsonpath" "fast" k get configmap settings -o 'jsonpath={.data.mode}'
expect "get -o custom-columns" "fast" k get configmap settings -o custom-columns=MODE:.data.mode
expect "get -o json" '"mode": "fast"' k get configmap settings -o json
expect "get by label, of two kinds" "configmap/settings" k get configmaps,pods -l app=demo -o name
expect "get all" "service/web" k get all
expect "secrets show no values" "1" k get secrets
expect "describe" "mode:" k describe configmap settings
expect "explain a kind" "KIND:" k explain pod
expect "explain a field" "priorityClassName" k explain pod.spec.priorityClassName
expect "explain a group's field" "minCount" k explain podgroup.spec.schedulingPolicy.gang --api-version=scheduling.k8s.io/v1beta1
expect "api-resources" "compositepodgroups" k api-resources
expect "api-versions" "scheduling.k8s.io/v1beta1" k api-versions
expect "cluster-info" "is running at" k cluster-info

# --- apply: client side, server side, diff, dry run
expect "apply takes over what create made" "configmap/settings configured" k apply -f "$WORK/config.yaml"
sed -i 's/mode: fast/mode: slow/' "$WORK/config.yaml"
expect "diff shows the change" "+  mode: slow" k diff -f "$WORK/config.yaml"
expect "a dry run on the server changes nothing" "configured (server dry run)" k apply -f "$WORK/config.yaml" --dry-run=server
expect "indeed" "fast" k get configmap settings -o 'jsonpath={.data.mode}'
expect "server-side apply by the same hand" "serverside-applied" k apply --server-side -f "$WORK/config.yaml"
expect "it is in" "slow" k get configmap settings -o 'jsonpath={.data.mode}'
sed -i 's/mode: slow/mode: other/' "$WORK/config.yaml"
expect "another manager conflicts" 'conflict with "kubectl' k apply --server-side --field-manager other -f "$WORK/config.yaml"
expect "unless it insists" "serverside-applied" k apply --server-side --field-manager other --force-conflicts -f "$WORK/config.yaml"
expect "apply a pod" "pod/web created" k apply -f "$WORK/pod.yaml"

# --- change
expect "merge patch" "patched" k patch configmap settings --type merge -p '{"data":{"a":"1"}}'
expect "JSON patch" "patched" k patch configmap settings --type json -p '[{"op":"replace","path":"/data/a","value":"2"}]'
expect "strategic patch" "patched" k patch pod web -p '{"metadata":{"annotations":{"x":"y"}}}'
expect "all three arrived" "2" k get configmap settings -o 'jsonpath={.data.a}'
expect "label" "labeled" k label configmap settings tier=front
expect "and unlabel" "label" k label configmap settings tier-
expect "annotate" "annotated" k annotate configmap settings note=hello
expect "edit" "edited" env KUBE_EDITOR='sed -i s/hello/goodbye/' "$KUBECTL" edit configmap settings
expect "replace" "replaced" bash -c "$KUBECTL get configmap settings -o yaml | sed 's/goodbye/again/' | $KUBECTL replace -f -"
expect "set image" "image updated" k set image pod/web main=nginx:1.28
expect "cordon" "cordoned" k cordon z1-b1-r1-n2
expect "uncordon" "uncordoned" k uncordon z1-b1-r1-n2
expect "taint" "tainted" k taint node z1-b1-r1-n2 dedicated=x:NoSchedule

# --- scale
cat >"$WORK/deployment.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: c, image: i}]}
YAML
expect "a Deployment" "created" k apply -f "$WORK/deployment.yaml"
expect "scale" "scaled" k scale deployment shop --replicas=5
expect "the scale arrived" "5" k get deployment shop -o 'jsonpath={.spec.replicas}'

# --- who may do what
expect "the administrator may" "yes" k auth can-i delete nodes
expect "robots may not" "no" k auth can-i delete nodes --as=system:serviceaccount:default:robot
token=$(k create token robot)
url=$("$KUBECTL" config view --raw -o 'jsonpath={.clusters[0].cluster.server}')
"$KUBECTL" config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$WORK/ca.crt"
robot() { k --kubeconfig /dev/null --server "$url" --certificate-authority "$WORK/ca.crt" --token "$token" "$@"; }
expect "a robot's token is known but may nothing yet" 'cannot list resource "pods"' robot get pods
expect "a role" "role.rbac.authorization.k8s.io/reader created" k create role reader --verb=get,list --resource=pods
expect "a binding" "rolebinding.rbac.authorization.k8s.io/robots created" k create rolebinding robots --role=reader --serviceaccount=default:robot
expect "now it may" "web" robot get pods
expect "but only that" 'cannot list resource "secrets"' robot get secrets
expect "a wrong token is refused" "Unauthorized" k --kubeconfig /dev/null --server "$url" --certificate-authority "$WORK/ca.crt" --token x get pods

# --- wait, events, delete
expect "wait" "condition met" k wait --for=condition=Ready pod/web --timeout=30s
expect "events" "Scheduled" k get events
cat >"$WORK/owner.sh" <<'SH'
uid=$("$1" get configmap "$2" -o 'jsonpath={.metadata.uid}')
"$1" create -f - <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: $3
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: $2, uid: $uid}]
YAML
SH
for cascade in background foreground orphan; do
  k create configmap "owner-$cascade" >/dev/null
  bash "$WORK/owner.sh" "$KUBECTL" "owner-$cascade" "child-$cascade" >/dev/null
  expect "delete --cascade=$cascade" "deleted" k delete configmap "owner-$cascade" --cascade="$cascade"
done
eventually "the background child goes" "NotFound" k get configmap child-background
expect "the foreground child is gone already" "NotFound" k get configmap child-foreground
expect "the orphan stays" "child-orphan" k get configmap child-orphan
expect "delete by label" "deleted" k delete configmaps,pods -l app=demo
expect "delete a namespace with all that is in it" 'namespace "lab" deleted' k delete namespace lab
