// Least squares on one-hot labels, as a model of one's own: build it against an installed
// Paceline, then
//
//   ./own_model train --data synthetic --model squares --workers 2 --servers 1 --rate 0.05
#include <paceline/paceline.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace {

using namespace paceline;

class Squares final : public Model {
 public:
  explicit Squares(const DatasetInfo& data)
      : width_(data.width), classes_(static_cast<std::size_t>(data.classes)) {
    layout_.size = width_ * classes_;
    layout_.tensors = {{"weight", {classes_, width_}, {0, layout_.size}}};
  }
  const Layout& layout() const override { return layout_; }
  void initialize(std::uint64_t, std::span<float> parameters) const override {
    std::ranges::fill(parameters, 0.0f);
  }

  // The gradient of a sum over examples of (score − truth)² / 2.
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override {
    flow.await({0, layout_.size});
    std::ranges::fill(gradient, 0.0f);
    const Loss loss = pass(batch, parameters, gradient);
    flow.ready({0, layout_.size});
    return loss;
  }
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override {
    return pass(batch, parameters, {});
  }
  void predict(const Batch&, std::span<const float>, std::span<float>) override {}

 private:
  Loss pass(const Batch& batch, std::span<const float> parameters, std::span<float> gradient) {
    Loss loss{.weight = batch.weight, .examples = batch.size(), .predictions = batch.size()};
    std::vector<float> scores(classes_);
    for (std::size_t e = 0; e < batch.size(); ++e) {
      const std::uint8_t* row = batch.rows[e];
      for (std::size_t c = 0; c < classes_; ++c) {
        float score = 0;
        for (std::size_t i = 0; i < width_; ++i) score += parameters[c * width_ + i] * row[i] / 255;
        const float error = score - (batch.labels[e] == static_cast<int>(c) ? 1.0f : 0.0f);
        scores[c] = score;
        loss.sum += 0.5 * error * error;
        for (std::size_t i = 0; i < width_ && !gradient.empty(); ++i) {
          gradient[c * width_ + i] += error * row[i] / 255;
        }
      }
      loss.correct += std::ranges::max_element(scores) - scores.begin() == batch.labels[e];
    }
    return loss;
  }

  std::size_t width_, classes_;
  Layout layout_;
};

}  // namespace

int main(int argc, char** argv) {
  register_model("squares",
                 [](const ModelSetup& setup) { return std::make_unique<Squares>(setup.data); });
  return run_program(argc, argv);
}
