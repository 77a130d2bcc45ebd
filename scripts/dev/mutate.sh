# shellcheck shell=bash
# Sourced by ./dev: `./dev mutate` breaks the product on purpose, one small mutation at a time, and asks whether
# the tests notice. tests/mutations/README.md describes the texts that it reads.
#
# Everything happens in a copy of the tree, build/mutate/tree, built by the preset `mutate`; the checkout is only read.
# What makes hundreds of mutations bearable: one file is compiled and one test program linked for each, by ninja itself;
# those of one file follow each other; and what has been noticed once is not tried again (build/mutate/results).

readonly MUTATIONS=${MUSTER_MUTATIONS:-tests/mutations}
readonly MUTATE_TREE=build/mutate/tree
readonly MUTATE_BUILD=$MUTATE_TREE/build/mutate
readonly MUTATE_RESULTS=build/mutate/results  # a line for each mutation tried: its key, what became of it, seconds, id
readonly MUTATE_PASSING=build/mutate/passing  # a line for each program and filter that passes unmutated
readonly MUTATE_SECONDS=90  # a mutated test that runs longer hangs, and has noticed

# The mutations, in the order of the texts: their ids, and by id what the text says of each.
mutation_ids=()
declare -A mutation_file mutation_why mutation_tests mutation_lines mutation_text

# read_mutations: fills the tables above. Prints each mistake in a text; fails if there is one.
read_mutations() {
  local text line id='' number bad=0
  for text in "$MUTATIONS"/*.txt; do
    number=0 id=''
    while IFS= read -r line || [[ $line ]]; do
      number=$((number + 1))
      read_mutation_line "$line" || { complain "$text:$number: cannot read '$line'"; bad=1; }
    done <"$text"
  done
  for id in "${mutation_ids[@]}"; do
    [[ ${mutation_file[$id]:-} && ${mutation_why[$id]:-} && ${mutation_tests[$id]:-} && ${mutation_lines[$id]:-} ]] ||
      { complain "${mutation_text[$id]}: $id lacks a file, a why, a test or its lines"; bad=1; }
  done
  return "$bad"
}

# read_mutation_line LINE: reads one line into the tables; `id`, `text` are its caller's.
read_mutation_line() {
  local line=${1#"${1%%[! ]*}"}
  case $line in
    '' | '#'*) ;;
    'mutation '*)
      id=${line#mutation }
      [[ ! ${mutation_text[$id]:-} ]] || return 1
      mutation_ids+=("$id")
      mutation_text[$id]=$text
      ;;
    'file '*) mutation_file[$id]=${line#file } ;;
    'why '*) mutation_why[$id]=${line#why } ;;
    'test '*) mutation_tests[$id]+=${line#test }$'\n' ;;
    '- '* | '+ '* | '| '*) mutation_lines[$id]+=$line$'\n' ;;
    '-' | '+' | '|') mutation_lines[$id]+="$line "$'\n' ;;
    *) return 1 ;;
  esac
}

# mutated ID FILE: prints FILE with the mutation applied. Lines are compared without their indentation, so that a
# reformatted file still matches. Fails, with a sentence, unless the old lines occur in the file exactly once.
mutated() {
  local id=$1 path=$2 line at=-1 i j
  local -a old=() new=() have bare=()
  while IFS= read -r line; do
    case $line in
      '- '*) old+=("${line:2}") ;;
      '+ '*) new+=("${line:2}") ;;
      '| '*) old+=("${line:2}") new+=("${line:2}") ;;
    esac
  done <<<"${mutation_lines[$id]%$'\n'}"
  [[ -f $path ]] || { complain "$id: there is no file $path"; return 1; }
  ((${#old[@]} > 0)) || { complain "$id: has no old line"; return 1; }
  mapfile -t have <"$path"
  bare=("${have[@]/#+( )/}")
  old=("${old[@]/#+( )/}")
  for ((i = 0; i + ${#old[@]} <= ${#bare[@]}; i++)); do
    [[ ${bare[i]} == "${old[0]}" ]] || continue
    for ((j = 1; j < ${#old[@]}; j++)); do [[ ${bare[i + j]} == "${old[j]}" ]] || continue 2; done
    ((at < 0)) || { complain "$id: its old lines stand more than once in $path"; return 1; }
    at=$i
  done
  ((at >= 0)) || { complain "$id: its old lines are not in $path"; return 1; }
  printf '%s\n' "${have[@]:0:at}" "${new[@]}" "${have[@]:at+${#old[@]}}"
}

# check_mutations ID ...: fails, with a sentence for each, unless every mutation applies and its tests exist.
check_mutations() {
  local id target filter part bad=0
  local -a parts
  local -A tests targets
  while read -r part; do tests[$part]=1 tests[${part%%.*}.]=1; done < <(every_test_name)
  while read -r part; do targets[$part]=1; done < <(every_target)
  for id in "$@"; do
    mutated "$id" "${mutation_file[$id]}" >/dev/null || bad=1
    while read -r target filter; do
      [[ ${targets[$target]:-} ]] || { complain "$id: there is no program $target"; bad=1; }
      IFS=: read -ra parts <<<"$filter"
      for part in "${parts[@]}"; do
        if [[ $target == scenario ]]; then
          [[ -f tests/scenarios/$part.txt ]] && continue
        else
          part=${part#'*/'}  # instances of a parameterized test
          part=${part%'/*'}
          [[ $part == *'*' ]] && part=${part%%.*}.
          [[ $part == '*.' || ${tests[$part]:-} ]] && continue
        fi
        complain "$id: there is no test $part"
        bad=1
      done
    done <<<"${mutation_tests[$id]%$'\n'}"
  done
  return "$bad"
}

# Suite.Name of every test in the tree, without the instances of parameterized ones.
every_test_name() {
  grep -rhoPz --include='*_test.cc' --include='*_tests.cc' '\n(TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*\w+,\s*\w+' src tests |
    tr -d '\n' | tr '\0' '\n' | sed -E 's/^[A-Z_]+\( *//; s/, */./'
}

# The programs that hold tests: one per room, and those of tests/.
every_target() {
  grep -rhoP --include=CMakeLists.txt 'muster_module\(\s*\K\w+' src | sed 's/$/_test/'
  grep -rhoP --include=CMakeLists.txt 'add_executable\(\s*\K\w+' src tests
}

# copy_tree: makes MUTATE_TREE equal to the checkout, uncommitted changes included. Only files that differ are
# written, so that a build there starts from the last one.
copy_tree() {
  local path
  mkdir -p "$MUTATE_TREE"
  while IFS= read -r path; do
    [[ -f $path ]] || continue
    cmp -s "$path" "$MUTATE_TREE/$path" && continue
    mkdir -p "$MUTATE_TREE/${path%/*}" 2>/dev/null || true
    cp "$path" "$MUTATE_TREE/$path"
  done < <(git ls-files --cached --others --exclude-standard | sed 's|^\([^/]*\)$|./\1|')
  (cd "$MUTATE_TREE" && find . -type f -not -path './build/*') | while IFS= read -r path; do
    [[ -f $path ]] || rm -f "$MUTATE_TREE/$path"
  done
}

# build_in_tree TARGET ...: quiet, unless it fails.
build_in_tree() {
  if [[ ! -f $MUTATE_BUILD/build.ninja ]]; then
    (cd "$MUTATE_TREE" && cmake --preset mutate) >build/mutate/build.log 2>&1 || return
  fi
  ninja -C "$MUTATE_BUILD" -j "$(jobs_at_once)" "$@" >build/mutate/build.log 2>&1
}

# test_in_tree TARGET FILTER: a gtest binary with its filter, or the player with names of scenarios. The first failure
# is enough; nobody reads the smallest counterexample of a fault that was put in.
test_in_tree() (
  local target=$1 filter=$2 name
  local -a run=(env RC_PARAMS=noshrink=1 GTEST_FAIL_FAST=1 GTEST_BRIEF=1)
  if [[ -w /dev/shm ]]; then run+=(TMPDIR=/dev/shm); fi  # nobody waits for a disk
  cd "$MUTATE_TREE" || exit
  exec >../test.log 2>&1
  if [[ $target == scenario ]]; then
    for name in ${filter//:/ }; do
      "${run[@]}" timeout "$MUTATE_SECONDS" build/mutate/bin/scenario "tests/scenarios/$name.txt" || return 1
    done
  else
    "${run[@]}" timeout "$MUTATE_SECONDS" "build/mutate/bin/$target" --gtest_filter="$filter"
  fi
)

# All tests of the mutations, each once, as "TARGET FILTER".
tests_of() {
  local id
  for id in "$@"; do printf '%s' "${mutation_tests[$id]}"; done | sort -u
}

# key_of ID: differs when the mutation, the file it is for or the tests it names have changed.
key_of() {
  { printf '%s\n' "${mutation_tests[$1]}" "${mutation_lines[$1]}" && cat "$MUTATE_TREE/${mutation_file[$1]}"; } | sha1sum | cut -c1-16
}

# passes_unmutated ID ...: whether the tests of these mutations pass as long as nothing is broken; otherwise each would
# seem to be noticed. A program that has passed is not run again until it changes.
passes_unmutated() {
  local target filter key bad=0
  local -a targets
  mapfile -t targets < <(tests_of "$@" | cut -d' ' -f1 | sort -u)
  build_in_tree "${targets[@]}" || { grep -m 3 ' error:' build/mutate/build.log || tail -5 build/mutate/build.log; return 1; }
  while read -r target filter; do
    key="$target $(sha1sum <"$MUTATE_BUILD/bin/$target" | cut -c1-16) $filter"
    grep -qxsF "$key" "$MUTATE_PASSING" && continue
    if test_in_tree "$target" "$filter"; then
      printf '%s\n' "$key" >>"$MUTATE_PASSING"
    else
      tail -20 build/mutate/test.log
      complain "$target $filter fails unmutated"
      bad=1
    fi
  done < <(tests_of "$@")
  return "$bad"
}

# try_mutation ID: sets `became` to noticed, SURVIVED or DOES-NOT-BUILD. Programs are linked and run one after the other
# until one notices.
try_mutation() {
  local id=$1 path=$MUTATE_TREE/${mutation_file[$1]} original=build/mutate/original target filter
  became=SURVIVED
  cp "$path" "$original"
  mutated "$id" "$original" >"$path"
  while read -r target filter; do
    build_in_tree "$target" || { became=DOES-NOT-BUILD; break; }
    test_in_tree "$target" "$filter" || { became=noticed; break; }
  done <<<"${mutation_tests[$id]%$'\n'}"
  cp "$original" "$path"
}

# try_file ID ...: the mutations of one file. Counts in `noticed`, `survived` and `broken` of its caller.
try_file() {
  local id key became start
  local -a left=()
  for id in "$@"; do
    if grep -qs "^$(key_of "$id") noticed " "$MUTATE_RESULTS"; then noticed=$((noticed + 1)); else left+=("$id"); fi
  done
  ((${#left[@]} > 0)) || return 0
  if ! passes_unmutated "${left[@]}"; then
    printf 'CANNOT TELL  %s\n' "${left[@]}"
    broken=$((broken + ${#left[@]}))
    return
  fi
  for id in "${left[@]}"; do
    key=$(key_of "$id") start=$SECONDS
    try_mutation "$id"
    printf '%-14s %3d s  %s\n' "$became" "$((SECONDS - start))" "$id"
    printf '%s %s %d %s\n' "$key" "$became" "$((SECONDS - start))" "$id" >>"$MUTATE_RESULTS"
    case $became in
      noticed) noticed=$((noticed + 1)) ;;
      SURVIVED) survived=$((survived + 1)) && printf '  %s\n' "${mutation_why[$id]}" ;;
      *) broken=$((broken + 1)) && { grep -m 3 ' error:' build/mutate/build.log || tail -5 build/mutate/build.log; } ;;
    esac
  done
}

# Files with the ids of their mutations, a line each. Headers come last: what they rebuild is rebuilt once on the way
# there and once on the way back.
mutations_by_file() {
  local id
  local -A ids=()
  for id in "$@"; do ids[${mutation_file[$id]}]+=" $id"; done
  for id in "${!ids[@]}"; do
    if [[ $id == *.h ]]; then printf '2 '; else printf '1 '; fi
    printf '%s%s\n' "$id" "${ids[$id]}"
  done | sort | cut -d' ' -f3-
}

# every_small_fault [VERB] ROOM [FLAGS]: what scripts/mutate/small_faults.py says of itself.
every_small_fault() {
  ensure_packages build test lint mutate
  MUSTER_JOBS=$(jobs_at_once) exec python3 scripts/mutate/small_faults.py "$@"
}

verb_mutate() {
  if [[ ${1:-} == --every ]]; then
    shift
    every_small_fault "$@"
  fi
  local list='' check='' pattern='' id noticed=0 survived=0 broken=0 start=$SECONDS
  local -a chosen=() ids
  shopt -s extglob
  while (($# > 0)); do
    case $1 in
      --list) list=1 ;;
      --check) check=1 ;;
      --afresh) rm -f "$MUTATE_RESULTS" "$MUTATE_PASSING" ;;
      -*) die "unknown flag '$1'." "Try: ./dev mutate [--list | --check | --afresh] [PATTERN], or --every ROOM" ;;
      *) pattern=$1 ;;
    esac
    shift
  done
  read_mutations || die "the texts in $MUTATIONS have mistakes; see above."
  for id in "${mutation_ids[@]}"; do if [[ $id =~ $pattern ]]; then chosen+=("$id"); fi; done
  ((${#chosen[@]} > 0)) || die "no mutation matches '$pattern'." "./dev mutate --list shows them."
  if [[ $list ]]; then
    for id in "${chosen[@]}"; do printf '%-34s %s\n%-34s   %s\n' "$id" "${mutation_file[$id]}" '' "${mutation_why[$id]}"; done
    return 0
  fi
  check_mutations "${chosen[@]}" || die "some mutations do not fit the tree any more; mend their texts."
  if [[ $check ]]; then
    say "All ${#chosen[@]} mutations apply"
    return 0
  fi
  ensure_packages build test lint
  copy_tree
  say "Trying ${#chosen[@]} mutations"
  while read -ra ids; do try_file "${ids[@]}" </dev/null; done < <(mutations_by_file "${chosen[@]}")
  printf '%d mutations: %d noticed, %d survived, %d do not build or cannot be told. Minutes: %s.\n' \
    "${#chosen[@]}" "$noticed" "$survived" "$broken" "$(minutes $((SECONDS - start)))"
  ((survived + broken == 0))
}
