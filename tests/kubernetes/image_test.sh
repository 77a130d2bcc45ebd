#!/usr/bin/env bash
# The image of docs/deploy/Dockerfile, built by buildah above a Debian of debootstrap's: the command of docs/deploy/scheduler.yaml
# binds a pod from inside, as the securityContext there wants it: its user, a read-only root, no capabilities.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "images are built as root here"
for tool in buildah debootstrap; do command -v $tool >/dev/null || skip "no $tool"; done
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
images() { buildah --root "$WORK/images" --runroot "$WORK/images-run" "$@"; }
trap 'stop_kubernetes; code=$?; images umount --all >/dev/null 2>&1; (exit $code); finish' EXIT

# --- the base: Debian as its archive has it, kept beside the Kubernetes binaries
base=$(dirname "$KUBERNETES")/debian-12
if [ ! -e "$base.tar" ]; then
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Codename: bookworm' 'Component: main' | head -n 1)
  [ "$archive" ] || skip "apt knows no archive of Debian 12"
  rm -rf "$base"
  debootstrap --variant=minbase bookworm "$base" "$archive" >"$WORK/debootstrap.log" 2>&1 ||
    skip "debootstrap cannot reach Debian's archive: $(tail -n 1 "$WORK/debootstrap.log")"
  tar -C "$base" -cf "$base.part" . && mv "$base.part" "$base.tar"
  rm -rf "$base"
fi
container=$(images from scratch)
images add -q "$container" "$base.tar" / >/dev/null
images commit -q --rm "$container" docker.io/library/debian:12-slim >/dev/null
pass_or_fail $? "a Debian to build above" ""

# --- the recipe, as docs/deploy/README.md has it
install -Ds "$MUSTER" "$WORK/context/muster"
images bud -q -t muster -f "$ROOT/docs/deploy/Dockerfile" "$WORK/context" >"$WORK/build.log" 2>&1
pass_or_fail $? "the image is built" "$(tail -n 20 "$WORK/build.log")"
container=$(images from --pull-never muster)
image_user() { images inspect --format '{{.OCIv1.Config.User}}' "$container"; }
eventually "it does not run as root" 1 65532 image_user
expect "it knows its version" "$("$MUSTER" --version)" images run "$container" -- muster --version

# --- in a cluster
start_kubernetes_with_groups
make_node a-1 ra
k apply -f "$ROOT/docs/deploy/scheduler.yaml" >/dev/null
root=$(images mount "$container")
account=$root/run/secrets/kubernetes.io/serviceaccount # /var/run is an absolute link to /run
mkdir -p "$account" "$root/etc/muster"
k create token muster-scheduler -n kube-system >"$account/token"
cp "$WORK/pki/apiserver.crt" "$account/ca.crt"
printf kube-system >"$account/namespace"
configuration >"$root/etc/muster/config.yaml"
read -ra command < <(k get deployment muster-scheduler -n kube-system \
  -o 'jsonpath={range .spec.template.spec.containers[0].command[*]}{@} {end}')
expect "the Deployment runs Muster" "muster scheduler" echo "${command[@]}"
# inside COMMAND...: in the image's root, which is read-only; with namespaces of its own, so that nothing outlives a SIGTERM.
inside() {
  KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=$API_PORT \
    unshare --mount --pid --fork --kill-child bash -c '
      mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount --bind /dev dev && mount -o remount,bind,ro "$0" &&
        chroot . setpriv --reuid 65532 --regid 65532 --clear-groups --bounding-set -all --no-new-privs -- "$@"
      exit' "$root" "$@" &
  local its=$!
  trap 'kill -KILL $its' TERM # unshare itself waits for its child whatever is asked of it
  wait "$its"
}
expect "its root is read-only" "Read-only file system" inside touch /tmp/x
port=$(free_port)
run_in_background image inside "${command[@]}" --secure-port "$port"
scheduler=$LAST
pod hello | k create -f - >/dev/null
eventually "from inside, the scheduler binds a pod" 60 1 bound hello
leader() { k -n kube-system get lease muster-scheduler -o 'jsonpath={.spec.holderIdentity}' | grep -c _; }
eventually "as the leader" 10 1 leader
of_image() { grep -h '"username":"system:serviceaccount:kube-system:muster-scheduler"' "$WORK/audit.json" | grep -c 'pods/hello/binding'; }
eventually "by its service account" 10 1 of_image
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
serves() { curl -sk --max-time 5 "https://127.0.0.1:$port/livez" >/dev/null && echo yes || echo no; }
eventually "it says that it lives" 10 yes serves
kill "$scheduler"
wait "$scheduler" 2>/dev/null
eventually "and ends with this test" 10 no serves
