#!/bin/bash
# The launcher script in a project of one source file: it builds, builds anew what has
# changed, shows what fails, and passes arguments, output and exit code through.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir -p tools cmake src apps
cp "$source/paceline" .
cp "$source/tools/packages" tools/
cat >packages.txt <<'EOF'
[build]
cmake  # is there
EOF
cat >CMakePresets.json <<'EOF'
{"version": 4, "configurePresets": [
  {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]}
EOF
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(Small LANGUAGES CXX)
add_executable(paceline src/main.cc)
set_target_properties(paceline PROPERTIES RUNTIME_OUTPUT_DIRECTORY apps)
EOF
write_source() { # standard input, later than all that was built before
  cat >src/main.cc
  local built
  for built in build/release/apps/paceline build/release/launcher-stamp-*; do
    until [ ! -e "$built" ] || [ src/main.cc -nt "$built" ]; do touch src/main.cc; done
  done
}
program() { # prints its arguments and ends with code $1
  write_source <<EOF
#include <cstdio>
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) std::printf("<%s>\n", words[i]);
  return $1;
}
EOF
}

failed=0
passed=0
check() { # check WHAT CONDITION…
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$what"
    sed 's/^/  | /' output
  fi
}
launch() {
  code=0
  ./paceline "$@" >output 2>&1 || code=$?
}
says() { grep -qF -- "$1" output; }
says_not() { ! says "$1"; }

program 7
launch "two words" --flag ''
check "the exit code is the program's" [ $code = 7 ]
check "arguments arrive as they are" [ "$(grep '^<' output | tr '\n' ' ')" = "<two words> <--flag> <> " ]
check "the build shows its progress" says "building paceline, once ["
check "the build shows no compiler output" says_not "main.cc"

launch again
check "what is built is not built again" says_not "building"
check "it still runs" says "<again>"

program 8
launch
check "what has changed is built again" [ $code = 8 ]

(cd / && "$work/paceline" elsewhere) >output 2>&1 || true
check "it runs from any folder" says "<elsewhere>"
ln -s "$work/paceline" "$work/link"
./link linked >output 2>&1 || true
check "it runs through a link" says "<linked>"

# Holds the lock of the build until `go` appears; what waits for it is started meanwhile.
hold_lock() {
  rm -f go held
  flock build/release/launcher-lock sh -c 'touch held; while [ ! -e go ]; do sleep 0.05; done' &
  until [ -e held ]; do sleep 0.05; done
}
program 9
hold_lock
./paceline late >output 2>&1 &
late=$!
until says "waiting for another build"; do sleep 0.05; done
check "a launcher waits for another build" says_not "<late>"
touch go
code=0
wait $late || code=$?
check "and goes on after it" [ $code = 9 ]

cp "$source/Makefile" .
mkdir stubs
printf '#!/bin/sh\ntouch configured\n' >stubs/cmake
# Says whether the lock is free when make asks for it.
cat >stubs/flock <<EOF
#!/bin/sh
$(command -v flock) --nonblock build/release/launcher-lock true && touch free || touch waits
exec $(command -v flock) "\$@"
EOF
chmod +x stubs/cmake stubs/flock
hold_lock
PATH=$work/stubs:$PATH make build >output 2>&1 &
made=$!
until [ -e waits ] || [ -e free ] || [ -e configured ]; do sleep 0.05; done
check "make waits for another build" [ -e waits -a ! -e configured ]
touch go
wait $made
check "and builds after it" [ -e configured ]
rm Makefile

# Words about the benchmarks need nothing that only benchmarks need.
sed -i '$a [bench]\nno-such-package-for-peers  # is not there' packages.txt
for words in "bench --list" "bench --help" "bench softmax -h"; do
  launch $words
  check "$words installs nothing" [ $code = 9 ]
done

# What stands on large libraries is installed and built when a run asks for it.
sed -i '$a [torch]\nno-such-package-for-models  # is not there' packages.txt
sed -i '$a [images]\nno-such-package-for-images  # is not there' packages.txt
sed -i '$a [mpi]\nno-such-package-for-mpi  # is not there' packages.txt
mkdir -p recipes
echo 'data = "images"' >recipes/own.toml
echo 'model = "image-quality"' >recipes/deep.toml
mkdir offline
printf '#!/bin/sh\nexit 1\n' >offline/apt-get
chmod +x offline/apt-get
asks() { # asks WHAT WORDS…: whether these words make the launcher look for these packages
  local what=$1
  shift
  PATH=$work/offline:$PATH launch "$@"
  says "no-such-package-for-$what"
}
check "a folder of images asks for OpenCV" asks images train --data images
check "in one word, too" asks images train --data=images
check "and in a recipe" asks images train own
check "a model on libtorch asks for that" asks models train --model image-quality
check "and in a recipe" asks models train deep
PMIX_RANK=0
export PMIX_RANK
check "preparing under mpirun asks for MPI" asks mpi prepare reviews x
launch train mnist
check "training does not" [ $code = 9 ]
unset PMIX_RANK
for words in "prepare reviews x" "train mnist" "train --data-file images/train" "train --model softmax"; do
  launch $words
  check "$words installs nothing" [ $code = 9 ]
done

echo 'int main() { return nonsense; }' | write_source
launch
check "a failing build ends with 1" [ $code = 1 ]
check "a failing build shows the compiler's words" says "nonsense"
check "a failing build says where the rest is" says "build.log"

program 0
sed -i '/^\[build\]/a no-such-package-anywhere  # is not there' packages.txt
mkdir refusing
printf '#!/bin/sh\nexit 1\n' >refusing/sudo
chmod +x refusing/sudo
chmod -R a+rwX "$work"
nobody=
[ "$(id -u)" != 0 ] || nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
code=0
PATH=$work/refusing:$PATH $nobody ./paceline </dev/null >output 2>&1 || code=$?
check "without root it ends with 1" [ $code = 1 ]
check "without root it says what to run" \
  says "apt-get install -y --no-install-recommends no-such-package-anywhere"

if [ -n "$nobody" ]; then # root may write anything
  chmod 600 build/release/launcher-lock
  code=0
  $nobody ./paceline </dev/null >output 2>&1 || code=$?
  check "a build of somebody else's is named" [ $code = 1 ]
  check "with what to do" says "build as the user who built before, or delete"
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
