#include "model/torch/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/synthetic.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kWidth = 12;
constexpr std::int64_t kClasses = 3;

class ScriptTest : public ::testing::Test {
 protected:
  // One hidden layer; `forward` is its source.
  std::string file(const std::string& forward) {
    torch::manual_seed(1);
    torch::jit::Module module("m");
    module.register_parameter("first", torch::randn({8, kWidth}, torch::requires_grad()), false);
    module.register_parameter("second", torch::randn({kClasses, 8}, torch::requires_grad()), false);
    module.define(forward + "\n");
    const std::string path = folder_.file("net.pt");
    module.save(path);
    return path;
  }
  std::string file() {
    return file(R"(
      def forward(self, x):
        return torch.matmul(torch.tanh(torch.matmul(x, self.first.t())), self.second.t()))");
  }
  ModelSetup setup(const std::string& name) {
    ModelSetup made;
    made.options.name = name;
    made.data = data_->info();
    return made;
  }
  Batch batch(std::uint64_t begin, std::uint64_t end) const {
    Batch batch;
    batch.examples.resize(end - begin);
    std::iota(batch.examples.begin(), batch.examples.end(), begin);
    data_->read(batch.examples, batch);
    return batch;
  }
  std::string refusal(const std::string& name) {
    try {
      const ScriptModel model(setup(name));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TempDir folder_;
  std::unique_ptr<Dataset> data_ =
      make_synthetic({.width = kWidth, .classes = kClasses}, {0, 20}, "rows");
};

TEST_F(ScriptTest, BeginsWithWhatTheFileHolds) {
  const ScriptModel model(setup(file()));
  EXPECT_EQ(model.layout().size, static_cast<std::uint64_t>(8 * kWidth + 8 * kClasses));
  EXPECT_EQ(model.layout().tensors[0].name, "first");
  std::vector<float> one(model.layout().size), other(model.layout().size);
  model.initialize(1, one);
  model.initialize(2, other);
  EXPECT_EQ(one, other);
  torch::manual_seed(1);
  EXPECT_FLOAT_EQ(one[0], torch::randn({8, kWidth})[0][0].item<float>());
}

TEST_F(ScriptTest, GradientIsTheSumOverAnyCutAndThatOfDifferences) {
  ScriptModel model(setup(file()));
  const std::size_t size = model.layout().size;
  std::vector<float> parameters(size), gradient(size), total(size);
  model.initialize(1, parameters);
  NoFlow flow;
  for (const auto& [begin, end] : {std::pair{0, 3}, {3, 10}}) {
    model.gradient(batch(begin, end), parameters, gradient, flow);
    for (std::size_t i = 0; i < size; ++i) total[i] += gradient[i];
  }
  model.gradient(batch(0, 10), parameters, gradient, flow);
  for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(total[i], gradient[i], 1e-4);
  for (const std::size_t i : {0UL, 50UL, size - 1}) {
    constexpr float kStep = 1e-2f;
    std::vector<float> moved = parameters;
    moved[i] += kStep;
    const double above = model.evaluate(batch(0, 10), moved).sum;
    moved[i] -= 2 * kStep;
    const double below = model.evaluate(batch(0, 10), moved).sum;
    EXPECT_NEAR((above - below) / (2 * kStep), gradient[i], 0.02 * std::abs(gradient[i]) + 0.01);
  }
}

TEST_F(ScriptTest, LearnsLabelsAsNumbers) {
  ModelSetup numbers = setup(file(R"(
      def forward(self, x):
        return torch.matmul(x, self.first.t())[:, 0])"));
  EXPECT_THAT(refusal(numbers.options.name), HasSubstr("must answer with scores"));
  numbers.options.loss = LossKind::kSquaredError;
  ScriptModel model(numbers);
  std::vector<float> parameters(model.layout().size), gradient(model.layout().size);
  model.initialize(1, parameters);
  NoFlow flow;
  const Batch all = batch(0, 20);
  const double before = model.evaluate(all, parameters).mean();
  for (int step = 0; step < 300; ++step) {
    model.gradient(all, parameters, gradient, flow);
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] -= 0.005F * gradient[i];
  }
  const Loss after = model.evaluate(all, parameters);
  EXPECT_LT(after.mean(), 0.2 * before);
  EXPECT_GT(after.accuracy(), 0.5);
  std::vector<float> found(20 * kClasses);
  model.predict(all, parameters, found);
  for (const float probability : found) {
    EXPECT_TRUE(probability < 0.01F || probability > 0.99F) << probability;
  }
}

TEST_F(ScriptTest, PredictsProbabilities) {
  ScriptModel model(setup(file()));
  std::vector<float> parameters(model.layout().size), found(5 * kClasses);
  model.initialize(1, parameters);
  model.predict(batch(0, 5), parameters, found);
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_NEAR(found[3 * row] + found[3 * row + 1] + found[3 * row + 2], 1, 1e-5);
  }
}

TEST_F(ScriptTest, RefusesWhatDoesNotAnswerAsItShould) {
  EXPECT_THAT(refusal(folder_.file("none.pt")), HasSubstr("there is no file"));
  write_atomically(folder_.file("junk.pt"), "junk");
  EXPECT_THAT(refusal(folder_.file("junk.pt")), HasSubstr("is not a TorchScript file"));
  EXPECT_THAT(refusal(file(R"(
      def forward(self, x):
        return torch.matmul(x, self.second.t()))")),
              AllOf(HasSubstr("cannot be called with the examples of rows, a tensor of [2, "),
                    HasSubstr("cannot be multiplied")));
  EXPECT_THAT(refusal(file(R"(
      def forward(self, x):
        return torch.matmul(x, self.first.t()))")),
              HasSubstr("answers two examples with a tensor of 2 × 8; rows has 3 classes"));
  EXPECT_THAT(refusal(file(R"(
      def forward(self, x):
        return (x, x))")),
              HasSubstr("must answer with a tensor"));
}

TEST_F(ScriptTest, RefusesANetworkThatIsFrozen) {
  torch::jit::Module module("m");
  module.register_parameter("weight", torch::randn({kClasses, kWidth}), false);
  module.define("def forward(self, x): return torch.matmul(x, self.weight.t())\n");
  const std::string path = folder_.file("frozen.pt");
  module.save(path);
  EXPECT_THAT(refusal(path), HasSubstr("no parameters that learn"));
}

TEST_F(ScriptTest, RefusesBatchStatistics) {
  torch::jit::Module module("m");
  module.register_parameter("weight", torch::randn({kClasses, kWidth}, torch::requires_grad()),
                            false);
  module.register_buffer("norm_running_mean", torch::zeros({3}));
  module.define("def forward(self, x): return torch.matmul(x, self.weight.t())\n");
  const std::string path = folder_.file("norm.pt");
  module.save(path);
  EXPECT_THAT(refusal(path), HasSubstr("batch statistics"));
}

}  // namespace
}  // namespace paceline
