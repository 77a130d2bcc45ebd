# shellcheck shell=bash
# Sourced by ./dev: `./dev bench` builds and runs the programs of bench/. What they measured lies in
# build/bench.json; --record also writes bench/RESULTS.md, with instruction counts by callgrind.

# `./dev bench loader` is another matter: a server and its load, not a program that measures itself.
bench_loader() {
  ensure_packages build bench
  configure release -DMUSTER_BUILD_BENCH=ON
  compile release --target muster muster_loader
  exec bench/end_to_end.sh "$@"
}

verb_bench() {
  if [[ ${1:-} == loader ]]; then bench_loader "${@:2}"; fi
  local name='' record='' program subject status=0
  local -a flags=() ran=()
  while (($# > 0)); do
    case $1 in
      --record) record=yes ;;
      --only)
        [[ ${2:-} ]] || die "--only wants a text that the names of cases contain."
        flags+=(--only "$2")
        shift
        ;;
      -*) die "unknown argument '$1'." "Try: ./dev bench [NAME] [--only TEXT] [--record]" ;;
      *) name=$1 ;;
    esac
    shift
  done
  if [[ $record && ($name || ${#flags[@]} -gt 0) ]]; then die "--record is for a whole run: give no name."; fi
  ensure_packages build bench
  configure release -DMUSTER_BUILD_BENCH=ON
  compile release --target benches
  mkdir -p build/bench
  bench_machine >build/bench/machine
  for program in build/release/bin/*"$name"*_bench; do
    [[ -x $program ]] || continue
    subject=$(basename "$program" _bench)
    say "$program ${flags[*]}"
    "$program" "${flags[@]}" --json "build/bench/$subject.json" --markdown "build/bench/$subject.md" || status=1
    ran+=("$subject")
  done
  ((${#ran[@]} > 0)) || die "no benchmark is called '*$name*_bench' in build/release/bin."
  bench_json "${ran[@]}" >build/bench.json
  say "build/bench.json holds the numbers"
  if [[ $record ]]; then
    bench_instructions >build/bench/instructions.md
    bench_results "${ran[@]}" >bench/RESULTS.md
    say "bench/RESULTS.md is written"
  fi
  ((status == 0)) || die "a benchmark failed; see above."
}

# Lines `name: value` about where and when this is measured.
bench_machine() {
  local load
  load=$(cut -d' ' -f1 /proc/loadavg)
  echo "date: $(date -u +%F)"
  echo "commit: $(git rev-parse --short HEAD 2>/dev/null || echo unknown)$([[ -z $(git status --porcelain -- src bench 2>/dev/null) ]] || echo ' and changes')"
  echo "CPU: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
  echo "compiler: $(g++ -dumpfullversion), -O2"
  echo "load before: $load$(awk -v l="$load" 'BEGIN {if (l > 0.5) print ": the machine was shared, times are longer than on a quiet one"}')"
}

bench_json() {
  local subject separator=''
  printf '{"machine":{'
  sed 's/["\\]/\\&/g; s/^\([^:]*\): \(.*\)$/"\1":"\2"/' build/bench/machine | paste -sd, | tr -d '\n'
  printf '},\n"programs":['
  for subject in "$@"; do
    printf '%s' "$separator"
    cat "build/bench/$subject.json"
    separator=','
  done
  printf ']}\n'
}

# Instructions per operation of each core loop.
bench_instructions() {
  local loop operations instructions
  echo "## Instructions of core loops"
  echo
  if ! command -v valgrind >/dev/null; then
    echo "skipped: no valgrind"
    return 0
  fi
  echo "Counted by callgrind (AVX2 paths), decision and commit, 5,000 nodes."
  echo
  echo "| One | instructions |"
  echo "|---|--:|"
  build/release/bin/core_loops | while read -r loop; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
      --toggle-collect=muster_measured build/release/bin/core_loops "$loop" \
      >build/bench/loop.out 2>build/bench/loop.err </dev/null
    operations=$(cat build/bench/loop.out)
    instructions=$(sed -n 's/.*Collected : //p' build/bench/loop.err)
    echo "| $loop | $((instructions / operations)) |"
  done
}

bench_results() {
  local subject
  echo "# What was measured"
  echo
  echo "Written by \`./dev bench --record\`; [README.md](README.md) says what the columns mean."
  echo
  sed 's/^/- /' build/bench/machine
  for subject in "$@"; do
    echo
    cat "build/bench/$subject.md"
  done
  echo
  cat build/bench/instructions.md
}
