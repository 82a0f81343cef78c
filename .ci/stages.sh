# What .ci/run and .ci/full share: steps with their times.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

times=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

stage() { # stage NAME COMMAND…; the first that fails ends it all
  local name=$1 start=$SECONDS
  shift
  printf '\n=== %s\n' "$name"
  "$@"
  times+=("$(printf '%-28s %5d s' "$name" $((SECONDS - start)))")
}

# `make test` and then the time of every stage; its count is the last that is printed.
last_stage() { # last_stage [MAKE ARGUMENT…]
  stage "release tests" bash -o pipefail -c 'make test "$@" | tee "$0"' "$log" "$@"
  printf '\n%-28s %5d s, of which\n' "all stages" $SECONDS
  printf '  %s\n' "${times[@]}"
  grep 'tests passed' "$log" | tail -n 1
}
