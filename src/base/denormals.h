// Numbers that are almost zero.
//
// Gradients that come back through hundreds of steps of an LSTM end below 1e-38, where floats
// lose their leading one. Many processors compute with such numbers a hundred times slower, and
// nothing is learned from them.
#pragma once

namespace paceline {

// From now on they are zero: in this thread and in those that it starts. To be called first in
// main(), so that every thread of every role computes alike. Without effect where the processor
// is not known.
void flush_denormals();

}  // namespace paceline
