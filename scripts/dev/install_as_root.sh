#!/usr/bin/env bash
# Installs the Debian packages named as arguments. Run by ./dev, as root.
#
# It removes nothing, asks nothing and starts no daemon. It fetches the package lists at most once:
# if there are none, or if they turn out to be too old. While another apt or dpkg runs, it waits.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

: "${LOCK_PATIENCE_S:=600}"  # how long to wait for another apt or dpkg
: "${LOCK_RETRY_S:=5}"
: "${APT_LISTS:=/var/lib/apt/lists}"
: "${POLICY:=/usr/sbin/policy-rc.d}"
readonly POLICY_MARK="# Written by Muster's ./dev while it installs packages; safe to delete."

readonly LOCKED='Could not get lock|Unable to acquire the dpkg frontend lock|Unable to lock directory'
readonly STALE='Unable to locate package|has no installation candidate|404 +Not Found|Unable to fetch some archives'
readonly APT=(apt-get -q -y -o "DPkg::Lock::Timeout=$LOCK_RETRY_S" -o Acquire::Retries=3 -o APT::Color=0)

said=$(mktemp)
cleanup() {
  rm -f "$said"
  forget_policy
}

# Packages may not start services: Debian's own way to say so is a policy-rc.d that answers 101.
# One that the machine's owner put there stays as it is.
forbid_daemons() {
  [[ -e $POLICY ]] && return 0
  printf '#!/bin/sh\n%s\nexit 101\n' "$POLICY_MARK" >"$POLICY"
  chmod 755 "$POLICY"
}
forget_policy() {
  if [[ -f $POLICY ]] && grep -qF "$POLICY_MARK" "$POLICY"; then rm -f "$POLICY"; fi
}

# Runs apt-get, keeping what it says for a look at the reason. Waits for a held lock, with a bound.
run_apt() {
  local deadline=$((SECONDS + LOCK_PATIENCE_S)) waiting=
  until "${APT[@]}" "$@" </dev/null 2>&1 | tee "$said" | progress; do
    grep -qE "$LOCKED" "$said" || return 1
    if ((SECONDS >= deadline)); then
      echo "error: another apt or dpkg still holds its lock after $LOCK_PATIENCE_S s. Let it finish, then try again." >&2
      exit 2
    fi
    [[ $waiting ]] || echo "Another apt or dpkg is at work; waiting for it, up to $LOCK_PATIENCE_S s ..."
    waiting=yes
    sleep "$LOCK_RETRY_S"
  done
}

# One line per step on a terminal or in a log; the retries of a held lock stay quiet.
progress() { grep --line-buffered -E '^(Get:|Unpacking|Setting up|E:|W:|Err:)|newly installed|Need to get' | grep --line-buffered -vE "$LOCKED" || true; }

update_lists() {
  echo "Fetching Debian's package lists ..."
  run_apt update || {
    cat "$said" >&2
    echo "error: the package lists could not be fetched. Is the network up, and does /etc/apt name a Debian mirror?" >&2
    exit 2
  }
  updated=yes
}

install_packages() { run_apt install --no-install-recommends --no-remove "$@"; }

explain_failure() {
  if grep -q 'dpkg --configure -a' "$said"; then
    echo "error: an earlier installation was cut short. Run 'dpkg --configure -a' as root, then try again." >&2
  elif grep -qiE "no space left|don't have enough free space" "$said"; then
    echo "error: the disk is full. Free some space ('apt-get clean' helps), then try again." >&2
  elif grep -q 'Packages need to be removed but remove is disabled' "$said"; then
    echo "error: these packages conflict with installed ones, and ./dev never removes any. This shows which:" >&2
    echo "  apt-get install --no-install-recommends --simulate $*" >&2
  else
    echo "error: apt-get could not install the packages; its own words are above." >&2
  fi
  exit 2
}

updated=
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
forget_policy
forbid_daemons

compgen -G "$APT_LISTS/*_Packages*" >/dev/null || update_lists
if ! install_packages "$@"; then
  if [[ -z $updated ]] && grep -qE "$STALE" "$said"; then
    update_lists
    install_packages "$@" || explain_failure "$@"
  else
    explain_failure "$@"
  fi
fi
