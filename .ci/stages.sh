# What .ci/run and .ci/full share: steps with their times.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

times=()
failed=()
goes_on= # not empty: what fails does not hide what comes after it
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

stage() { # stage NAME COMMAND…; the first that fails ends it all, unless goes_on
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n=== %s\n' "$name"
  "$@" || status=$?
  times+=("$(printf '%-28s %5d s%s' "$name" $((SECONDS - start)) "$([ $status = 0 ] || echo ', failed')")")
  [ $status = 0 ] || [ -n "$goes_on" ] || exit $status
  [ $status = 0 ] || failed+=("$name")
}

# `make test` and then the time of every stage; its count is the last that is printed.
last_stage() { # last_stage [MAKE ARGUMENT…]
  stage "release tests" bash -o pipefail -c 'make test "$@" | tee "$0"' "$logs/tests" "$@"
  printf '\n%-28s %5d s, of which\n' "all stages" $SECONDS
  printf '  %s\n' "${times[@]}"
  grep 'tests passed' "$logs/tests" | tail -n 1 || true
  [ ${#failed[@]} = 0 ] || exit 1
}
