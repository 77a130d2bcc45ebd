# shellcheck shell=bash
# Sourced by ./dev: finds out which Debian packages are missing, and has them installed.
# The list itself is packages.txt; the one step that needs root is install_as_root.sh.

readonly PACKAGE_LIST="$ROOT/scripts/dev/packages.txt"
readonly INSTALL_MB=2000  # free space that new packages want under /usr
readonly BOOST_OLD=1.74 BOOST_OURS=1.81

# The packages of the given tiers, one per line, without those whose command is here already.
packages_of() {
  local tier package wanted=" $* "
  local -A seen=()
  while read -r tier package _; do
    [[ $tier == "#"* || -z $tier || $wanted != *" $tier "* ]] && continue
    if [[ $package == *"|"* ]]; then
      command -v "${package#*|}" >/dev/null && continue
      package=${package%|*}
    fi
    [[ ${seen[$package]:-} ]] && continue
    seen[$package]=1
    echo "$package"
  done <"$PACKAGE_LIST"
}

# Of the given packages, those that are not installed. One call of dpkg-query for all of them.
not_installed() {
  local installed package
  (($# > 0)) || return 0
  installed=$'\n'$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)$'\n'
  for package in "$@"; do
    [[ $installed == *$'\n'"$package installed"$'\n'* ]] || echo "$package"
  done
}

# Makes sure that every package of the given tiers is installed. Silent, and without apt, if so.
ensure_packages() {
  local -a wanted missing elevate=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    warn "this system has no apt, so packages are not checked; scripts/dev/packages.txt lists what the build needs"
    return 0
  fi
  mapfile -t wanted < <(packages_of "$@")
  mapfile -t missing < <(not_installed "${wanted[@]}")
  ((${#missing[@]} > 0)) || return 0

  warn_unless_bookworm
  refuse_old_boost "${missing[@]}"
  if (($(id -u) != 0)); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      elevate=(sudo)
    else
      complain "Debian packages are missing, and installing them needs root (no usable sudo was found)." \
        "Ask an administrator to run this, then try again:" "" \
        "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
      exit 2
    fi
  fi
  need_space /usr "$INSTALL_MB" "to install packages"

  say "Installing Debian packages: ${missing[*]}"
  "${elevate[@]}" bash "$ROOT/scripts/dev/install_as_root.sh" "${missing[@]}" || exit 2

  mapfile -t missing < <(not_installed "${missing[@]}")
  ((${#missing[@]} == 0)) || die "apt-get ended well, yet these packages are still missing: ${missing[*]}"
}

warn_unless_bookworm() {
  local ID='' VERSION_ID='' PRETTY_NAME=''
  # shellcheck disable=SC1091
  [[ -r /etc/os-release ]] && . /etc/os-release
  [[ $ID == debian && $VERSION_ID == 12 ]] ||
    warn "Muster is built and tested on Debian 12; this is ${PRETTY_NAME:-an unknown system}. Going on: package names and versions may differ."
}

# Debian lets only one version of Boost's headers be installed. Replacing another one could break
# somebody else's build, so that is left to the owner of the machine.
refuse_old_boost() {
  local package
  [[ " $* " == *" libboost$BOOST_OURS-dev "* ]] || return 0
  [[ -z $(not_installed "libboost$BOOST_OLD-dev") ]] || return 0
  local -a ours=()
  for package in "$@"; do [[ $package == libboost*"$BOOST_OURS"-dev ]] && ours+=("$package"); done
  complain "Boost $BOOST_OLD's headers (libboost$BOOST_OLD-dev) are installed; Muster needs $BOOST_OURS, and Debian allows only one." \
    "Nothing was changed. To replace them (apt shows what else would go, and asks), run this, then try again:" "" \
    "  $(as_root_prefix)apt-get install --no-install-recommends ${ours[*]}"
  exit 2
}

as_root_prefix() { if (($(id -u) != 0)); then echo "sudo "; fi; }
