#include "model/model.h"

namespace paceline {

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  weight += other.weight;
  examples += other.examples;
  correct += other.correct;
  return *this;
}

}  // namespace paceline
