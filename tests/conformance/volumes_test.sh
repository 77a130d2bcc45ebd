#!/usr/bin/env bash
# Claims from kubectl to a running pod: bound at once, and by the first consumer.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 2 --racks-per-block 1 --nodes-per-rack 2 --node-resources cpu=8,memory=16Gi
eventually "all nodes are Ready" "4" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

cat >"$WORK/classes.yaml" <<'YAML'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: later}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: now
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: csi.example.com
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: manual}
provisioner: kubernetes.io/no-provisioner
YAML
expect "classes are created" "storageclass.storage.k8s.io/later created" k apply -f "$WORK/classes.yaml"
expect "get shows the mode" "WaitForFirstConsumer" k get sc

claim() { # name class
  cat <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec:
  ${2:+storageClassName: $2}
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 2Gi}}
YAML
}
pod() { # name claim
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  containers: [{name: main, image: app:1, resources: {requests: {cpu: 100m}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: $2}}]
YAML
}

# The first consumer decides.
claim data later >"$WORK/claim.yaml"
expect "a claim is created without a warning" "persistentvolumeclaim/data created" k apply -f "$WORK/claim.yaml"
sleep 1
expect "it waits for its consumer" "Pending" k get pvc data
pod db data >"$WORK/pod.yaml"
k apply -f "$WORK/pod.yaml" >/dev/null
eventually "the pod runs" "Running" k get pod db
expect "the claim is bound" "Bound" k get pvc data
expect "the claim remembers its node" "volume.kubernetes.io/selected-node" k get pvc data -o yaml
expect "the volume is there" "default/data" k get pv
expect "the volume is in the zone of the pod" \
  "$(k get node "$(k get pod db -o 'jsonpath={.spec.nodeName}')" -o 'jsonpath={.metadata.labels.topology\.kubernetes\.io/zone}')" \
  k get pv -o yaml

# At once, by the default class.
claim quick >"$WORK/claim.yaml"
k apply -f "$WORK/claim.yaml" >/dev/null
eventually "a claim without a class gets the default one and is bound" "Bound" k get pvc quick
expect "its class is named" "now" k get pvc quick
pod web quick >"$WORK/pod.yaml"
k apply -f "$WORK/pod.yaml" >/dev/null
eventually "its pod runs" "Running" k get pod web

# A volume made by hand.
claim archive manual >"$WORK/claim.yaml"
k apply -f "$WORK/claim.yaml" >/dev/null
pod old archive >"$WORK/pod.yaml"
k apply -f "$WORK/pod.yaml" >/dev/null
eventually "a pod says what it waits for" "pod has unbound immediate PersistentVolumeClaims" k describe pod old
cat >"$WORK/pv.yaml" <<'YAML'
apiVersion: v1
kind: PersistentVolume
metadata: {name: shelf}
spec:
  storageClassName: manual
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: /srv}
YAML
k apply -f "$WORK/pv.yaml" >/dev/null
eventually "the volume is bound" "Bound" k get pv shelf
eventually "and the pod runs" "Running" k get pod old

expect "a missing claim is named" "pod/lost created" bash -c "$(declare -f pod); pod lost nowhere | $KUBECTL apply -f -"
eventually "by the pod's condition" 'persistentvolumeclaim "nowhere" not found' k describe pod lost

# What was made goes with its claim.
k delete pod db --now >/dev/null
expect "the claim is deleted" 'deleted' k delete pvc data
eventually "and its volume with it" "none" bash -c "$KUBECTL get pv | grep -q default/data || echo none"

# A volume that lives as long as its pod.
cat >"$WORK/ephemeral.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: scratch}
spec:
  containers: [{name: main, image: app:1}]
  volumes:
  - name: tmp
    ephemeral:
      volumeClaimTemplate:
        spec:
          storageClassName: later
          accessModes: [ReadWriteOnce]
          resources: {requests: {storage: 1Gi}}
YAML
k apply -f "$WORK/ephemeral.yaml" >/dev/null
eventually "a pod with an ephemeral volume runs" "Running" k get pod scratch
expect "its claim is bound" "Bound" k get pvc scratch-tmp
