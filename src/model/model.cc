#include "model/model.h"

namespace paceline {

const Layout& Model::frozen() const {
  static const Layout kNothing;
  return kNothing;
}

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  weight += other.weight;
  examples += other.examples;
  correct += other.correct;
  predictions += other.predictions;
  positives.right += other.positives.right;
  positives.found += other.positives.found;
  positives.there += other.positives.there;
  return *this;
}

}  // namespace paceline
