// Everything that the program does, for programs that bring models of their own: they register
// these, then call this. Every role of a run is a process of the same program.
#pragma once

namespace paceline {

int run_program(int argc, char** argv);  // the exit code

}  // namespace paceline
