# shellcheck shell=bash
# Sourced by ./dev: `./dev doctor` looks at the machine, and compares the packages we list with
# those the build really reads. It changes nothing. Exit 1 if a list is wrong, 0 otherwise.

verb_doctor() {
  local status=0
  doctor_tools
  doctor_space
  doctor_huge_pages
  if ! command -v dpkg-query >/dev/null; then
    warn "this system has no dpkg, so packages cannot be compared"
    return 0
  fi
  doctor_missing
  doctor_used || status=1
  return "$status"
}

doctor_tools() {
  local tool
  say "System: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null || uname -sr), $(nproc) cores, $(jobs_at_once) compiler(s) at once"
  say "Tools"
  for tool in g++ cmake ninja ccache mold clang++-19 clang-tidy-19 clang-format-19 gcovr shellcheck git; do
    printf '  %-16s %s\n' "$tool" "$(version_of "$tool" --version)"
  done
  printf '  %-16s %s\n' kubectl "$(version_of kubectl version --client)"
}

# The first number with a dot that the tool says about itself.
version_of() {
  local words
  command -v "$1" >/dev/null || { echo "not found"; return; }
  words=$("$@" 2>/dev/null || true)
  if [[ $words =~ v?[0-9]+\.[0-9][0-9.]* ]]; then echo "${BASH_REMATCH[0]}"; else echo "found, version unknown"; fi
}

doctor_space() {
  local folder
  say "Free space"
  for folder in "$ROOT" /usr "${TMPDIR:-/tmp}"; do
    printf '  %-16s %s MB\n' "$(if [[ $folder == "$ROOT" ]]; then echo checkout; else echo "$folder"; fi)" \
      "$(df -Pm "$folder" | awk 'NR == 2 {print $4}')"
  done
  if [[ -d build ]]; then du -sm build/*/ 2>/dev/null | awk '{printf "  %-16s %s MB used\n", $2, $1}'; fi
}

# A compiler asks for hundreds of megabytes, page by page; in a virtual machine each page costs so much that
# half of the time of a build goes there.
doctor_huge_pages() {
  local setting=/sys/kernel/mm/transparent_hugepage/enabled
  if [[ -r $setting && $(<"$setting") != *"[always]"* ]] && grep -q '^flags.* hypervisor' /proc/cpuinfo; then
    say "Huge pages"
    echo "  off by default on this virtual machine; builds may take half the time after"
    echo "  echo always | sudo tee $setting"
  fi
}

doctor_missing() {
  local tier missing
  local -a packages
  say "Packages per tier"
  for tier in build test bench fmt lint fuzz coverage; do
    mapfile -t packages < <(packages_of "$tier")
    missing=$(not_installed "${packages[@]}" | tr '\n' ' ')
    printf '  %-16s %s\n' "$tier" "${missing:+missing: }${missing:-complete}"
  done
}

# Compares packages.txt with the headers that the existing builds have read.
doctor_used() {
  local work status=0
  work=$(mktemp -d)
  headers_read >"$work/headers"
  if [[ ! -s $work/headers ]]; then
    say "Headers: nothing is built yet, so there is nothing to compare (run ./dev test first)"
    rm -rf "$work"
    return 0
  fi
  xargs -r dpkg-query -S <"$work/headers" 2>"$work/unowned" |
    sed -n 's/^\([^ ,:]*\)[^ ]*: .*/\1/p' | sort -u >"$work/used"
  awk '!/^#/ && NF {sub(/\|.*/, "", $2); print $2}' "$PACKAGE_LIST" | sort -u >"$work/listed"
  dependencies_of "$work/listed" >"$work/covered"
  awk '$1 ~ /^(build|test|bench)$/ {print $2}' "$PACKAGE_LIST" | with_headers | sort -u >"$work/libraries"

  say "Headers: the build reads $(wc -l <"$work/headers") system headers of $(wc -l <"$work/used") packages"
  comm -23 "$work/used" "$work/covered" >"$work/unlisted"
  if [[ -s $work/unlisted ]]; then
    echo "  used, but neither listed nor brought in by a listed package; add to scripts/dev/packages.txt:"
    sed 's/^/    /' "$work/unlisted"
    status=1
  fi
  if grep -q 'no path found' "$work/unowned"; then
    echo "  of no Debian package at all, so a bare machine will lack them:"
    grep -o '/[^ ]*$' "$work/unowned" | head -n 20 | sed 's/^/    /'
    status=1
  fi
  comm -13 "$work/used" "$work/libraries" >"$work/idle"
  if [[ -s $work/idle ]]; then
    echo "  listed, but the builds that exist here read no header of theirs:"
    sed 's/^/    /' "$work/idle"
  fi
  ((status == 0)) && echo "  every header comes from a listed package or its dependencies"
  rm -rf "$work"
  return "$status"
}

# Every header outside the checkout that any build directory depends on, as ninja recorded it.
headers_read() {
  local log
  for log in build/*/.ninja_deps; do
    [[ -f $log ]] || continue
    ninja -C "${log%/*}" -t deps 2>/dev/null | sed -n 's/^    \(\/.*\)/\1/p'
  done | sort -u | grep -vF "$ROOT/" | xargs -r realpath -es | sort -u
}

# The packages in the file, and all they depend on that is installed here.
dependencies_of() {
  dpkg-query -W -f '${Package}\t${Provides}\t${Pre-Depends}, ${Depends}\n' |
    awk -F '\t' -v listed="$1" '
      # "a (>= 1) | b:any, c" becomes the names a, b and c in names[1..n].
      function names_in(text) {
        gsub(/\([^)]*\)|:[a-z0-9]+/, "", text)
        gsub(/[ \t]/, "", text)
        return split(text, names, /[,|]+/)
      }
      {
        needs[$1] = $3
        n = names_in($2)
        for (i = 1; i <= n; ++i) if (names[i] != "") provider[names[i]] = provider[names[i]] " " $1
      }
      END {
        while ((getline package < listed) > 0) queue[++last] = package
        for (first = 1; first <= last; ++first) {
          package = queue[first]
          if (package in seen) continue
          seen[package] = 1
          if (package in needs) print package
          m = split(provider[package], by, " ")
          for (i = 1; i <= m; ++i) queue[++last] = by[i]
          n = names_in(needs[package])
          for (i = 1; i <= n; ++i) if (names[i] != "") queue[++last] = names[i]
        }
      }' | sort -u
}

# Of the packages on standard input, those that are installed and bring header files.
with_headers() {
  local package
  while read -r package; do
    if [[ $(dpkg-query -L "$package" 2>/dev/null) == */include/*.h* ]]; then echo "$package"; fi
  done
}
