# shellcheck shell=bash
# Sourced by ./dev: `./dev mutate` breaks the product on purpose, one small mutation at a time, and asks whether
# the tests notice. tests/mutations/README.md describes the texts that it reads.
#
# Everything happens in a copy of the tree, build/mutate/tree; the checkout is only read.

readonly MUTATIONS=tests/mutations
readonly MUTATE_TREE=build/mutate/tree
readonly MUTATE_SECONDS=240  # a mutated test that runs longer hangs, and has noticed

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
# reformatted file still matches. Fails, with a sentence, unless the old lines stand in the file exactly once.
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
  local log=build/mutate/build.log
  (cd "$MUTATE_TREE" && { [[ -f build/dev/build.ninja ]] || cmake --preset dev; } &&
    cmake --build build/dev -j "$(jobs_at_once)" --target "$@") >"$log" 2>&1
}

# test_in_tree TARGET FILTER: a gtest binary with its filter, or the player with names of scenarios.
test_in_tree() (
  local target=$1 filter=$2 name
  cd "$MUTATE_TREE" || exit
  exec >../test.log 2>&1
  export ASAN_OPTIONS=strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
  if [[ $target == scenario ]]; then
    for name in ${filter//:/ }; do
      timeout "$MUTATE_SECONDS" build/dev/bin/scenario "tests/scenarios/$name.txt" || return 1
    done
  else
    timeout "$MUTATE_SECONDS" "build/dev/bin/$target" --gtest_filter="$filter" --gtest_brief=1
  fi
)

# All tests of the mutations, each once, as "TARGET FILTER".
tests_of() {
  local id
  for id in "$@"; do printf '%s' "${mutation_tests[$id]}"; done | sort -u
}

# try_mutation ID: prints and returns what became of it: 0 noticed, 1 survived, 2 it does not build.
try_mutation() {
  local id=$1 path=$MUTATE_TREE/${mutation_file[$1]} original=build/mutate/original target filter noticed=''
  local -a targets
  mapfile -t targets < <(tests_of "$id" | cut -d' ' -f1 | sort -u)
  cp "$path" "$original"
  mutated "$id" "$original" >"$path"
  if ! build_in_tree "${targets[@]}"; then
    cp "$original" "$path"
    printf 'DOES NOT BUILD  %s\n' "$id"
    grep -m 3 ' error:' build/mutate/build.log || tail -5 build/mutate/build.log
    return 2
  fi
  while read -r target filter; do
    test_in_tree "$target" "$filter" || { noticed=$target; break; }
  done <<<"${mutation_tests[$id]%$'\n'}"
  cp "$original" "$path"
  if [[ $noticed ]]; then
    printf 'noticed   %s (%s)\n' "$id" "$noticed"
  else
    printf 'SURVIVED  %s: %s\n' "$id" "${mutation_why[$id]}"
    return 1
  fi
}

# All must be well before anything is broken; otherwise every mutation would seem to be noticed.
check_unmutated() {
  local target filter bad=0
  local -a targets
  mapfile -t targets < <(tests_of "$@" | cut -d' ' -f1 | sort -u)
  say "Building the unmutated tree: ${targets[*]}"
  build_in_tree "${targets[@]}" || { tail -30 build/mutate/build.log; die "the tree does not build."; }
  while read -r target filter; do
    test_in_tree "$target" "$filter" || { tail -20 build/mutate/test.log; complain "$target $filter fails unmutated"; bad=1; }
  done < <(tests_of "$@")
  ((bad == 0)) || die "tests fail before anything was mutated; see above."
}

verb_mutate() {
  local list='' check='' pattern='' id noticed=0 survived=0 broken=0
  shopt -s extglob
  while (($# > 0)); do
    case $1 in
      --list) list=1 ;;
      --check) check=1 ;;
      -*) die "unknown flag '$1'." "Try: ./dev mutate [--list | --check] [PATTERN]" ;;
      *) pattern=$1 ;;
    esac
    shift
  done
  read_mutations || die "the texts in $MUTATIONS have mistakes; see above."
  local -a chosen=()
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
  ensure_packages build test
  copy_tree
  check_unmutated "${chosen[@]}"
  say "Trying ${#chosen[@]} mutations"
  for id in "${chosen[@]}"; do
    try_mutation "$id" && noticed=$((noticed + 1)) || case $? in 1) survived=$((survived + 1)) ;; *) broken=$((broken + 1)) ;; esac
  done
  printf '%d mutations: %d noticed, %d survived, %d do not build.\n' "${#chosen[@]}" "$noticed" "$survived" "$broken"
  ((survived + broken == 0))
}
