#!/usr/bin/env bash
# Volumes that are chosen with the node: claims are bound before their pods, with the PersistentVolume controller of a real
# kube-controller-manager, for lone pods and for gangs, of which none is bound while one claim cannot be.
. "$(dirname "$0")/lib.sh"

start_kubernetes_with_groups
run_in_background manager "$KUBERNETES" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false --secure-port 0 \
  --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" --pvclaimbinder-sync-period 1s \
  --controllers persistentvolume-binder-controller
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
for i in 1 2 3; do make_node "a-$i" ra; done
k create -f - >/dev/null <<END
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
END

volume() { # NAME NODE: a disk of the node
  cat <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {path: /mnt/$1}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$2]}]}]}}
---
END
}
claim() { # NAME [STORAGE]
  cat <<END
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: ${2:-5Gi}}}}
---
END
}
with_claim() { echo "volumes: [{name: data, persistentVolumeClaim: {claimName: $1}}]"; }
claims() { k get pvc -o 'jsonpath={range .items[*]}{.metadata.name} {.status.phase}{"\n"}{end}' | grep -c "^$1.* Bound"; }

start_scheduler scheduler --config "$WORK/config.yaml" --secure-port 0

# --- a lone pod goes where its volume is
{ volume only a-2; claim lone; pod lone 1 "" "$(with_claim lone)"; } | k create -f - >/dev/null
eventually "a pod is bound to the node that has the volume" 90 a-2 nodes_of lone
eventually "its claim is bound" 30 1 claims lone

# --- a gang of two with a disk each, one of which is missing
{ volume first a-1; claim gang-1; claim gang-2; gang train 2
  for i in 1 2; do pod "train-$i" 1 train "$(with_claim "gang-$i")"; done; } | k create -f - >/dev/null
eventually "a gang waits for the second disk" 60 False group_says train
eventually "with none of its pods bound" 1 0 bound train-
eventually "nor a claim" 1 0 claims gang-
volume second a-3 | k create -f - >/dev/null
eventually "with the disk it is bound whole" 120 2 bound train-
eventually "so are its claims" 30 2 claims gang-
eventually "and its group says so" 30 True group_says train
nodes() { nodes_of train- | sort | tr '\n' ' '; }
eventually "on the nodes of the disks" 5 "a-1 a-3 " nodes

[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
