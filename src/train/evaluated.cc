#include "train/evaluated.h"

namespace paceline {

wire::Evaluated evaluated_of(std::uint64_t version, std::uint64_t epoch, const Metrics& metrics) {
  wire::Evaluated evaluated;
  evaluated.set_version(version);
  evaluated.set_epoch(epoch);
  evaluated.set_loss(metrics.loss.mean());
  evaluated.set_examples(metrics.loss.examples);
  if (metrics.accuracy) evaluated.set_accuracy(*metrics.accuracy);
  if (metrics.f1) evaluated.set_f1(*metrics.f1);
  if (metrics.auc) evaluated.set_auc(*metrics.auc);
  if (metrics.rmse) evaluated.set_rmse(*metrics.rmse);
  return evaluated;
}

}  // namespace paceline
