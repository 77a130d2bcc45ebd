#!/usr/bin/env bash
# The wire contract where kubectl's everyday use does not reach: through the front door, with curl.
. "$(dirname "$0")/lib.sh"

command -v curl >/dev/null || skip "no curl on PATH"
command -v jq >/dev/null || skip "no jq on PATH"
start_muster --in-memory --nodes-per-rack 1
url=$("$KUBECTL" config view --raw -o 'jsonpath={.clusters[0].cluster.server}')
for part in client-certificate-data client-key-data; do
  "$KUBECTL" config view --raw -o "jsonpath={.users[0].user.$part}" | base64 -d >"$WORK/$part"
done
"$KUBECTL" config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$WORK/ca.crt"

# raw METHOD PATH [curl arguments…]: a request with the administrator's certificate.
raw() {
  local method=$1 path=$2
  shift 2
  curl -sS -A conformance --max-time 30 --cacert "$WORK/ca.crt" --cert "$WORK/client-certificate-data" \
    --key "$WORK/client-key-data" -X "$method" "$url$path" "$@" 2>&1
}
post() { raw POST "$1" -H 'Content-Type: application/json' --data-binary "$2"; }
patch() { raw PATCH "$1" -H 'Content-Type: application/strategic-merge-patch+json' --data-binary "$2"; }
code() { raw "$@" -o /dev/null -w '%{http_code}'; }
ns=/api/v1/namespaces/default
pod() { # NAME [CONTAINER-MEMBERS]: a pod that nobody schedules
  echo '{"metadata":{"name":"'"$1"'"},"spec":{"schedulerName":"nobody","containers":[{"name":"c","image":"i"'"${2:-}"'}]}}'
}

# Revisions the store has not reached.
now() { raw GET "$ns/configmaps" | jq -r .metadata.resourceVersion; }
expect "a revision that never comes is told after a while" '"reason":"ResourceVersionTooLarge"' \
  raw GET "$ns/configmaps?resourceVersion=$(($(now) + 100000))"
expect "a WatchList hears of it in the stream" '{"type":"ERROR"' \
  raw GET "$ns/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=$(($(now) + 100000))"
next=$(($(now) + 1))
raw GET "$ns/pods?resourceVersion=$next" >"$WORK/waits" &
waits=$!
post "$ns/configmaps" '{"metadata":{"name":"next"}}' >/dev/null
wait $waits
expect "a revision that comes is waited for" '"kind":"PodList"' cat "$WORK/waits"

# The bindings collection.
post "$ns/pods" "$(pod bound)" >/dev/null
expect "a binding by its collection" '"code":201' \
  post "$ns/bindings" '{"metadata":{"name":"bound"},"target":{"kind":"Node","name":"nowhere"}}'
expect "binds" '"nodeName":"nowhere"' raw GET "$ns/pods/bound"
expect "bindings are only made" 405 code GET "$ns/bindings"

# pods/resize.
post "$ns/pods" "$(pod sized ',"resources":{"requests":{"cpu":"1","memory":"1Gi"}}')" >/dev/null
expect "resize changes resources" '"cpu":"2"' \
  patch "$ns/pods/sized/resize" '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}}'
expect "and the generation" '"generation":2' raw GET "$ns/pods/sized/resize"
expect "but not the QoS class" 'Pod QOS Class may not change as a result of resizing' \
  patch "$ns/pods/sized/resize" \
  '{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}]}}'
expect "nor other resources" 'only cpu and memory resources are mutable' \
  patch "$ns/pods/sized/resize" \
  '{"spec":{"containers":[{"name":"c","resources":{"requests":{"ephemeral-storage":"1Gi"}}}]}}'
expect "nor anything else" '"image":"i"' \
  patch "$ns/pods/sized/resize" '{"spec":{"containers":[{"name":"c","image":"other"}]}}'
expect "resources are given up by nobody" 'resource requests cannot be removed' \
  patch "$ns/pods/sized/resize" '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":null}}}]}}'
expect "kubectl resizes too" 'pod/sized patched' \
  k patch pod sized --subresource resize -p '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}}'

# pods/ephemeralcontainers, as kubectl debug uses them.
expect "kubectl debug adds a container" 'spec.ephemeralContainers' \
  sh -c '"$0" debug bound --image=busybox --container=look --attach=false 2>&1; "$0" get pod bound -o yaml | sed "s/ephemeralContainers:/spec.ephemeralContainers/"' "$KUBECTL"
expect "it is there" '"name":"look"' raw GET "$ns/pods/bound/ephemeralcontainers"
expect "it stays" 'may not be removed' \
  raw PATCH "$ns/pods/bound/ephemeralcontainers" -H 'Content-Type: application/merge-patch+json' \
  --data-binary '{"spec":{"ephemeralContainers":null}}'

# Refusals.
expect "an unknown resource has empty details" '"details":{}' raw GET /api/v1/unicorns
expect "so has a verb that is not there" '"details":{}' post /api/v1/pods "$(pod x)"
expect "and an unknown patch" '"details":{}' \
  raw PATCH "$ns/pods/bound" -H 'Content-Type: application/json' --data-binary '{}'
expect "HEAD is not allowed" 405 code HEAD "$ns/pods" --head

# Warnings are told apart even where they are cut.
fields=$(for i in $(seq 20); do printf '"%0300d%d":1,' 0 "$i"; done)
warnings() {
  raw POST "$ns/pods?dryRun=All" -D - -o /dev/null -H 'Content-Type: application/json' \
    --data-binary '{'"$fields"'"metadata":{"name":"w"},"spec":{"containers":[{"name":"c","image":"i"}]}}' |
    grep -ci '^warning:'
}
expect "many long warnings" 16 warnings

# What Go prints where nothing is set.
workloads=/apis/scheduling.k8s.io/v1beta1/namespaces/default/workloads
expect "a template without constraints" '"schedulingConstraints":null' \
  post $workloads '{"metadata":{"name":"w"},"spec":{"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}}]}}'
expect "a bookmark is an object without content" '"status":{}' \
  raw GET "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dnobody"

# Tokens, of pages and of accounts.
page() { raw GET "$ns/configmaps?continue=$(printf '%s' "$1" | base64 -w0 | tr '+/' '-_' | tr -d =)"; }
expect "a page of no revision" 'invalid continue token' page '{"v":"meta.k8s.io/v1","rv":0,"start":"a"}'
expect "a page of nowhere" 'invalid continue token' page '{"v":"meta.k8s.io/v1","rv":5,"start":""}'
expect "a page of the past says how to go on" '"continue":"' page '{"v":"meta.k8s.io/v1","rv":1,"start":"a"}'
expect "a token request says what it got" '"expirationSeconds":3600' \
  post "$ns/serviceaccounts/default/token" '{"spec":{}}'
