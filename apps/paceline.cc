// The one binary: every command and every role of a run.

#include "cli/commands/main.h"

int main(int argc, char** argv) {
  return paceline::run_program(argc, argv);
}
