# What .ci/run and .ci/full share: steps with their times, and builds that run ahead of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

times=()
failed=()
goes_on= # not empty: what fails does not hide what comes after it
logs=$(mktemp -d)
builder=
trap '[ -z "$builder" ] || kill -- "-$builder" 2>/dev/null || true; rm -rf "$logs"' EXIT

stage() { # stage NAME COMMAND…; the first that fails ends it all, unless goes_on
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n=== %s\n' "$name"
  "$@" || status=$?
  times+=("$(printf '%-28s %5d s%s' "$name" $((SECONDS - start)) "$([ $status = 0 ] || echo ', failed')")")
  [ $status = 0 ] || [ -n "$goes_on" ] || exit $status
  [ $status = 0 ] || failed+=("$name")
}

# A build uses all cores, while tests wait most of the time. So `make TARGET…` goes on in the
# background, one target after the other, with what the tests leave it of the cores.
build_ahead() { # build_ahead TARGET…
  set -m # a group of its own, to be ended together
  (
    for target; do
      nice -n 19 make "$target" >"$logs/$target" 2>&1 || { touch "$logs/$target.failed"; break; }
      touch "$logs/$target.done"
    done
  ) &
  builder=$!
  set +m
}

# Waits for what build_ahead makes of TARGET, and prints what it said.
built() { # built TARGET
  local target=$1
  until [ -e "$logs/$target.done" ] || [ -e "$logs/$target.failed" ]; do
    kill -0 "$builder" 2>/dev/null || break # a target before it has failed
    sleep 0.5
  done
  cat "$logs/$target" 2>/dev/null || true
  [ -e "$logs/$target.done" ]
}

# `make test` and then the time of every stage; its count is the last that is printed.
last_stage() { # last_stage [MAKE ARGUMENT…]
  stage "release tests" bash -o pipefail -c 'make test "$@" | tee "$0"' "$logs/tests" "$@"
  printf '\n%-28s %5d s, of which\n' "all stages" $SECONDS
  printf '  %s\n' "${times[@]}"
  grep 'tests passed' "$logs/tests" | tail -n 1 || true
  [ ${#failed[@]} = 0 ] || exit 1
}
