#!/bin/bash
# Installs Paceline into an empty folder, builds examples/own_model against it, and trains with
# it on two workers and one server.   own_model.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
cp -r "$source/examples/own_model" "$work/own_model"
cmake -S "$work/own_model" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log"
cmake --build "$work/build" >"$work/build.log" 2>&1 || { tail -30 "$work/build.log"; exit 1; }

cd "$work"
build/own_model train --data synthetic --model squares --workers 2 --servers 1 --rate 0.05 \
  --epochs 3 --run-dir run --quiet
/usr/bin/python3 - <<'EOF'
import json
summary = json.load(open("run/summary.json"))
assert summary["status"] == "complete", summary
assert summary["test_accuracy"] > 0.9, summary["test_accuracy"]
EOF
build/own_model evaluate run
echo "1 passed, 0 failed"
