#!/usr/bin/env bash
# Bad input gets a clear answer and loses nothing.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --nodes-per-rack 1
url=$("$KUBECTL" config view --raw -o 'jsonpath={.clusters[0].cluster.server}')

# raw METHOD PATH [curl arguments…]: a request with the administrator's certificate, without kubectl's checks.
"$KUBECTL" config view --raw -o 'jsonpath={.users[0].user.client-certificate-data}' | base64 -d >"$WORK/client.crt"
"$KUBECTL" config view --raw -o 'jsonpath={.users[0].user.client-key-data}' | base64 -d >"$WORK/client.key"
"$KUBECTL" config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$WORK/ca.crt"
raw() {
  local method=$1 path=$2
  shift 2
  curl -sS -A conformance --max-time 30 --cacert "$WORK/ca.crt" --cert "$WORK/client.crt" --key "$WORK/client.key" \
    -X "$method" "$url$path" "$@" 2>&1
}
post() { raw POST /api/v1/namespaces/default/pods -H 'Content-Type: application/json' --data-binary "$1"; }

pod() { # NAME CONTAINER-MEMBERS [SPEC-MEMBERS]
  echo '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"$1"'"},"spec":{"containers":[{"name":"c","image":"i"'"$2"'}]'"${3:-}"'}}'
}

cat >"$WORK/unknown.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: unknown}
spec:
  containerz: []
  containers: [{name: c, image: i}]
YAML
expect "kubectl names an unknown field" "containerz" k apply -f "$WORK/unknown.yaml"
expect "and nothing was stored" "NotFound" k get pod unknown

if command -v curl >/dev/null; then
  expect "strict validation names unknown fields" 'strict decoding error: unknown field \"spec.nope\"' \
    raw POST '/api/v1/namespaces/default/pods?fieldValidation=Strict' -H 'Content-Type: application/json' \
    --data-binary "$(pod strict '' ',"nope":1')"
  expect "otherwise they are a warning" 'unknown field' \
    raw POST '/api/v1/namespaces/default/pods' -D - -o /dev/null -H 'Content-Type: application/json' \
    --data-binary "$(pod lenient '' ',"nope":1')"
  expect "a wrong type is a bad request" '"reason":"BadRequest"' post "$(pod wrong '' ',"nodeName":5')"
  expect "and names the field" 'nodeName' post "$(pod wrong '' ',"nodeName":5')"
  expect "a bad quantity is a bad request" 'quantities must match the regular expression' \
    post "$(pod quantity ',"resources":{"requests":{"cpu":"lots"}}')"
  expect "broken JSON is a bad request" '"code":400' post '{"apiVersion":"v1","kind":"Pod"'
  expect "no container is invalid" 'spec.containers: Required value' \
    post '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"empty"},"spec":{}}'
  expect "a bad name is invalid" 'RFC 1123' post "$(pod Bad_Name '')"
  expect "another kind is refused" 'cannot be handled as a Pod' \
    post '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}'
  head -c 5000000 /dev/zero | tr '\0' 'a' >"$WORK/big"
  expect "5 MB are too much" '"reason":"RequestEntityTooLarge"' post "@$WORK/big"
  expect "an unknown media type is refused" '"code":415' \
    raw POST /api/v1/namespaces/default/pods -H 'Content-Type: text/html' --data-binary '<p>'
  expect "an unknown path is not found" '404 page not found' raw GET /nope
  expect "an unknown resource too" 'could not find the requested resource' raw GET /api/v1/nopes
  expect "a bad selector is a bad request" '"code":400' raw GET '/api/v1/pods?labelSelector=%3D%3D'
  expect "anonymous may ask for health" 'ok' curl -sS -A conformance --cacert "$WORK/ca.crt" "$url/healthz"
  expect "and nothing else" '"code":40' curl -sS -A conformance --cacert "$WORK/ca.crt" "$url/api/v1/pods"
  expect "a user agent that is no text becomes a field manager" '"manager":"agent' \
    raw POST /api/v1/namespaces/default/configmaps -A $'agent\xff' -H 'Content-Type: application/json' \
    --data-binary '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"agent"},"data":{"b":"2"}}'
  expect "and the object can be patched" '"a":"1"' \
    raw PATCH /api/v1/namespaces/default/configmaps/agent -H 'Content-Type: application/merge-patch+json' \
    --data-binary '{"data":{"a":"1"}}'
  # Each copy goes to the bottom of the document and doubles its depth.
  operations="" path=""
  for ((i = 0; i < 18; ++i)); do
    operations+="${operations:+,}{\"op\":\"copy\",\"from\":\"/data\",\"path\":\"/data$path/a\"}"
    path+="/a$path"
  done
  echo "[{\"op\":\"replace\",\"path\":\"/data\",\"value\":{}},$operations]" >"$WORK/nested"
  expect "a patch that nests a document without end is refused" '"reason":"Invalid"' \
    raw PATCH /api/v1/namespaces/default/configmaps/agent -H 'Content-Type: application/json-patch+json' \
    --data-binary "@$WORK/nested"
  expect "after all that it still answers" 'PodList' raw GET /api/v1/pods
else
  echo "skipped: no curl, so only kubectl's own checks were tried"
fi

# Flags and files.
refused() { # WHAT TEXT ARGUMENTS…
  local what=$1 text=$2
  shift 2
  local out code
  out=$("$MUSTER" "$@" 2>&1 </dev/null)
  code=$?
  case "$code:$out" in
    2:*"$text"*) pass_or_fail 0 "$what" "" ;;
    *) pass_or_fail 1 "$what" "wanted exit code 2 and: $text"$'\n'"got exit code $code and: $out" ;;
  esac
}
port=${url##*:}
refused "a port in use" "in use" up --in-memory --listen "127.0.0.1:$port"
refused "a bad flag" "--nope" up --nope
refused "a bad address" "--listen here" up --listen here
refused "a bad resource list" "--node-resources" up --in-memory --nodes-per-rack 1 --node-resources cpu
echo "pools: [{zonez: 3}]" >"$WORK/cluster.yaml"
refused "a bad cluster file" "no member zonez" up --in-memory --cluster "$WORK/cluster.yaml"
refused "a missing cluster file" "cannot read the cluster file" up --in-memory --cluster "$WORK/nowhere.yaml"
mkdir "$WORK/foreign" && echo hello >"$WORK/foreign/file"
refused "a foreign data directory" "not Muster's" up --data-dir "$WORK/foreign"
refused "a data directory that cannot be made" "data directory" up --data-dir /proc/nope
refused "a place for what is not kept" "--in-memory keeps nothing and --data-dir" up --in-memory --data-dir "$WORK/x"
refused "an unknown verb" "fly" fly
expect "help on every verb" "--listen" "$MUSTER" up --help
expect "the version" "muster 0" "$MUSTER" version
