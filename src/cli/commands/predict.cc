#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "base/file/file.h"
#include "cli/commands/commands.h"

namespace paceline {
namespace {

constexpr const char* kPredictExamples = R"(Examples:
  paceline predict runs/mnist-20240131-120000 --input t10k-images-idx3-ubyte.gz
  paceline predict runs/sentiment-20240131-120000 --input reviews.txt
  paceline predict RUN --input images.idx --output labels.txt --probabilities
)";

// One line per example: the most probable label, then perhaps all probabilities.
std::string lines(const Predictions& predictions, bool with_probabilities) {
  std::string out;
  for (const std::string& sentence : predictions.sentences) out += sentence + "\n";
  for (const float number : predictions.numbers) out += fmt::format("{:.6g}\n", number);
  if (predictions.probabilities.empty()) return out;
  std::span<const float> rest(predictions.probabilities);
  while (!rest.empty()) {
    const auto row = rest.first(predictions.classes);
    rest = rest.subspan(predictions.classes);
    const auto best =
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    out += predictions.names.empty() ? std::to_string(best) : predictions.names.at(best);
    if (with_probabilities) {
      for (const float probability : row) out += fmt::format("\t{:.6g}", probability);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

void add_predict_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "predict",
      "Labels images, texts or sparse rows with a trained model, or translates sentences. It "
      "writes one line for each, blank ones included, in their order: the number of the class, or "
      "its name where classes are folders.");
  command.footer(kPredictExamples);
  auto options = options_of<PredictOptions>(command, context);
  command
      .add_option("RUN", options->target, "run directory (its newest checkpoint) or a checkpoint")
      ->required();
  command
      .add_option("--input", options->input,
                  "images in IDX format, lines of text (gzipped or not), or an image or a folder "
                  "of them; of "
                  "sparse rows, what --data-file may be")
      ->option_text("FILE")
      ->required();
  command.add_option("--output", options->output, "where to write [standard output]")
      ->option_text("FILE");
  command.add_flag("--probabilities", options->probabilities,
                   "after the label, the probability of each class (folders in alphabetical "
                   "order), separated by "
                   "tabs");
}

void run(const PredictOptions& options, const Session& session) {
  std::optional<AtomicFile> file;
  if (!options.output.empty()) file.emplace(options.output);
  session.actions.predict(options.target, options.input, [&](const Predictions& predictions) {
    const std::string text = lines(predictions, options.probabilities);
    if (file) {
      file->write(text);
    } else {
      session.out << text << std::flush;
    }
  });
  if (file) file->commit();
}

}  // namespace paceline
