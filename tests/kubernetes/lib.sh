# shellcheck shell=bash
# Shared by the tests on a real Kubernetes: starts kube-apiserver above an etcd of its own on free ports.
# Needs MUSTER (Muster's binary) and KUBERNETES (the binary of this folder's Go module).
. "$(dirname "${BASH_SOURCE[0]}")/../conformance/lib.sh"

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
started=()

# What the Kubernetes under test calls things, and which gates switch groups on.
KUBERNETES_VERSION=${KUBERNETES_VERSION:-1.37}
case $KUBERNETES_VERSION in
  1.36)
    GROUP_API=scheduling.k8s.io/v1alpha2
    GROUP_SCHEDULED=PodGroupScheduled
    SCHEDULER_GATES=GenericWorkload=true,GangScheduling=true
    GROUP_FLAGS=(--feature-gates "$SCHEDULER_GATES,TopologyAwareWorkloadScheduling=true,WorkloadAwarePreemption=true"
      --runtime-config "$GROUP_API=true")
    ;;
  1.37)
    GROUP_API=scheduling.k8s.io/v1beta1
    GROUP_SCHEDULED=PodGroupInitiallyScheduled
    SCHEDULER_GATES=GenericWorkload=true
    GROUP_FLAGS=(--feature-gates "$SCHEDULER_GATES,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,PodGroupPreemptionPolicy=true,WorkloadWithJob=true"
      --runtime-config "$GROUP_API=true,scheduling.k8s.io/v1alpha3=true")
    ;;
  *) echo "KUBERNETES_VERSION=$KUBERNETES_VERSION: there are tests for 1.36 and 1.37 only"; exit 1 ;;
esac

# run_in_background NAME COMMAND...: its output goes to $WORK/NAME.log. LAST is its process.
run_in_background() {
  local name=$1
  shift
  "$@" >>"$WORK/$name.log" 2>&1 &
  LAST=$!
  started+=("$LAST")
}

stop_kubernetes() {
  local code=$?
  local at
  for ((at = ${#started[@]} - 1; at >= 0; at--)); do
    kill "${started[at]}" 2>/dev/null && wait "${started[at]}" 2>/dev/null
  done
  ((failures > 0)) && for log in "$WORK"/*.log; do
    echo "--- the end of $(basename "$log")"
    tail -n "${MUSTER_LOG_LINES:-25}" "$log" | cut -c1-400
  done
  return $code
}
trap 'stop_kubernetes; finish' EXIT

# A kube-apiserver that is built as a Go module does not know its version, and warns of deprecations to come.
k() {
  timeout 60 "$KUBECTL" "$@" 2>&1 | grep -av '^Warning: .* is deprecated in v'
  return "${PIPESTATUS[0]}"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# kubeconfig FILE TOKEN
write_kubeconfig() {
  cat >"$1" <<END
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$API_PORT", certificate-authority: $WORK/pki/apiserver.crt}}]
users: [{name: test, user: {token: $2}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
END
}

# start_kubernetes [flags of kube-apiserver]: KUBECONFIG is the administrator's, SCHEDULER_KUBECONFIG that of the
# service account kube-system/muster-scheduler, which may do what docs/deploy/rbac.yaml says. What every request
# came to is in $WORK/audit.log. SERVER_COMMAND is what to run to start the server again.
start_kubernetes() {
  mkdir -p "$WORK/pki"
  local etcd_port etcd_peer
  etcd_port=$(free_port)
  etcd_peer=$(free_port)
  API_PORT=$(free_port)
  openssl genrsa -out "$WORK/pki/sa.key" 2048 2>/dev/null
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=kube-apiserver -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$WORK/pki/apiserver.key" -out "$WORK/pki/apiserver.crt" 2>/dev/null
  cat >"$WORK/tokens.csv" <<END
admin-token,admin,1,"system:masters"
muster-token,system:serviceaccount:kube-system:muster-scheduler,2,"system:serviceaccounts,system:serviceaccounts:kube-system"
kube-token,system:kube-scheduler,3,""
END
  cat >"$WORK/audit.yaml" <<END
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
END
  run_in_background etcd "$KUBERNETES" etcd "$WORK/etcd" "http://127.0.0.1:$etcd_port" "http://127.0.0.1:$etcd_peer"
  SERVER_COMMAND=("$KUBERNETES" kube-apiserver --etcd-servers "http://127.0.0.1:$etcd_port" \
    --bind-address 127.0.0.1 --advertise-address 10.0.0.1 --endpoint-reconciler-type none --secure-port "$API_PORT" --service-cluster-ip-range 10.0.0.0/24 \
    --tls-cert-file "$WORK/pki/apiserver.crt" --tls-private-key-file "$WORK/pki/apiserver.key" \
    --service-account-issuer https://kubernetes.default.svc --service-account-signing-key-file "$WORK/pki/sa.key" \
    --service-account-key-file "$WORK/pki/sa.key" --token-auth-file "$WORK/tokens.csv" --authorization-mode RBAC \
    --audit-policy-file "$WORK/audit.yaml" --audit-log-path "$WORK/audit.json" \
    --disable-admission-plugins ServiceAccount "$@")
  run_in_background apiserver "${SERVER_COMMAND[@]}"
  write_kubeconfig "$KUBECONFIG" admin-token
  SCHEDULER_KUBECONFIG=$WORK/scheduler.kubeconfig
  write_kubeconfig "$SCHEDULER_KUBECONFIG" muster-token
  for _ in $(seq 600); do
    [ "$("$KUBECTL" get --raw /readyz 2>/dev/null)" = ok ] && break
    kill -0 "$LAST" 2>/dev/null || break
    sleep 0.2
  done
  if [ "$("$KUBECTL" get --raw /readyz 2>&1)" != ok ]; then
    pass_or_fail 1 "kube-apiserver starts" "$(tail -n 20 "$WORK/apiserver.log")"
    exit 1
  fi
  "$KUBECTL" apply -f "$ROOT/docs/deploy/rbac.yaml" >"$WORK/rbac.log" 2>&1 || cat "$WORK/rbac.log"
}

# The same with groups.
start_kubernetes_with_groups() { start_kubernetes "${GROUP_FLAGS[@]}" "$@"; }

# needs_composites: skips the rest of a test where this Kubernetes has no groups of groups.
needs_composites() { [ "$KUBERNETES_VERSION" != 1.36 ] || skip "Kubernetes $KUBERNETES_VERSION has no CompositePodGroups"; }

# The configuration that the scheduler's Deployment would have.
configuration() { k get configmap muster-scheduler -n kube-system -o 'jsonpath={.data.config\.yaml}'; }

# start_scheduler NAME [flags]: SCHEDULER_PID.
start_scheduler() {
  local name=$1
  shift
  run_in_background "$name" "$MUSTER" scheduler --kubeconfig "$SCHEDULER_KUBECONFIG" "$@"
  SCHEDULER_PID=$LAST
}

# custom KIND PLURAL GROUP VERSION: what Kubernetes does not serve by itself.
custom() {
  k create -f - >/dev/null <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $2.$3}
spec:
  group: $3
  scope: Namespaced
  names: {kind: $1, listKind: $1List, plural: $2, singular: ${1,,}}
  versions:
  - name: $4
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
END
}

# node NAME RACK [CPU]: a node that no kubelet runs, Ready.
node() {
  cat <<END
apiVersion: v1
kind: Node
metadata: {name: $1, labels: {topology.kubernetes.io/zone: a, topology.kubernetes.io/rack: $2, kubernetes.io/hostname: $1}}
END
}
make_node() { # NAME RACK [CPU]
  node "$1" "$2" | k create -f - >/dev/null
  k patch node "$1" --subresource status --type merge -p "{\"status\": {
    \"capacity\": {\"cpu\": \"${3:-8}\", \"memory\": \"32Gi\", \"pods\": \"110\"},
    \"allocatable\": {\"cpu\": \"${3:-8}\", \"memory\": \"32Gi\", \"pods\": \"110\"},
    \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\", \"reason\": \"Test\", \"message\": \"\"}]}}" >/dev/null
  k taint node "$1" node.kubernetes.io/not-ready- >/dev/null
}

# pod NAME [CPU] [GROUP] [more of its spec]
pod() {
  cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  schedulerName: muster
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: app, resources: {requests: {cpu: "${2:-1}"}}}]
  ${3:+schedulingGroup: {podGroupName: $3\}}
  ${4:-}
---
END
}

# gang NAME MINIMUM [more of its spec]
gang() {
  cat <<END
apiVersion: $GROUP_API
kind: PodGroup
metadata: {name: $1}
spec:
  schedulingPolicy: {gang: {minCount: $2}}
  ${3:-}
---
END
}
group_says() { # NAME: the status of its condition
  k get podgroup "$1" -o "jsonpath={.status.conditions[?(@.type==\"$GROUP_SCHEDULED\")].status}"
}
racks() { nodes_of "$1" | cut -c1 | sort -u | wc -l; } # PREFIX: in how many racks they are, by the first letter of their nodes

nodes_of() { # PREFIX: the nodes of pods whose names begin so, in order of the pods
  k get pods -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}' | awk -v prefix="$1" \
    'index($1, prefix) == 1 {print $2}'
}
bound() { nodes_of "$1" | grep -c .; } # PREFIX: how many of them have a node

# eventually SECONDS WANT COMMAND…: the command prints WANT within this time.
eventually() {
  local what=$1 seconds=$2 want=$3 got
  shift 3
  for _ in $(seq $((seconds * 5))); do
    got=$("$@" 2>&1)
    [ "$got" = "$want" ] && break
    sleep 0.2
  done
  [ "$got" = "$want" ]
  pass_or_fail $? "$what" "wanted: $want
got:    $got"
}

# Requests of Muster that were refused for lack of rights; `muster doctor` only tries whether it may read the metrics.
refused() { grep -h '"username":"system:serviceaccount:kube-system:muster-scheduler"' "$WORK"/audit.json | grep '"code":403' |
  grep -v '"requestURI":"/metrics"' | grep -o '"verb":"[a-z]*"[^}]*' | cut -c1-300 | sort | uniq -c; }
