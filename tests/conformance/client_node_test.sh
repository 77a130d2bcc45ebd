#!/usr/bin/env bash
# @kubernetes/client-node against a running server. Its packages come from npm once and stay in the build folder.
. "$(dirname "$0")/lib.sh"

here=$(cd "$(dirname "$0")/node" && pwd)
command -v node >/dev/null || skip "no Node.js"
command -v npm >/dev/null || skip "no npm"
packages=${MUSTER_CLIENT_NODE:-$WORK/client-node}
mkdir -p "$packages"
cp "$here"/package.json "$here"/package-lock.json "$here"/client.mjs "$packages"/
if [ ! -d "$packages/node_modules" ]; then
  (cd "$packages" && timeout 200 npm ci --no-audit --no-fund >"$WORK/npm.log" 2>&1) || {
    rm -rf "$packages/node_modules"
    skip "npm could not fetch @kubernetes/client-node"
  }
fi

start_muster --in-memory
out=$(cd "$packages" && timeout 100 node client.mjs 2>&1)
code=$?
while IFS= read -r line; do
  case $line in
    ok:*) pass_or_fail 0 "${line#ok: }" ;;
    *) [ -n "$line" ] && pass_or_fail 1 "client-node" "$line" ;;
  esac
done <<<"$out"
[ $code -eq 0 ] || pass_or_fail 1 "client.mjs ends well" "exit code $code"
[ "$checks" -ge 11 ] || pass_or_fail 1 "all checks ran" "$checks"
