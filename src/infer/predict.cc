#include "infer/predict.h"

#include <memory>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text.h"
#include "data/catalogue/open.h"
#include "data/sparse/text_lines.h"
#include "infer/batches.h"
#include "infer/trained.h"
#include "model/linear/sparse_linear.h"

namespace paceline {
namespace {

// Of classes that have names: the folders that the run learned from.
std::vector<std::string> class_names(const Trained& trained) {
  if (!is_image_folder(trained.config.data)) return {};
  return read_classes(trained.run_dir);
}

DatasetInfo described(const Trained& trained, const Dataset& input) {
  DatasetInfo info = input.info();
  const DataOptions& data = trained.config.data;
  if (is_text(data)) return info;
  if (is_image_folder(data)) {
    info.classes = static_cast<std::int32_t>(class_names(trained).size());
    return info;
  }
  const bool made_up = dataset_kind(data.name).origin == Origin::kMadeUp;
  info.classes = made_up ? data.synthetic.classes : data.classes;
  if (made_up) info.image = image_of(data.synthetic);
  return info;
}

std::vector<std::string> translate(Model& model, const Dataset& input, const Trained& trained) {
  const Vocabulary words = read_vocabularies(TextKind::kSentences, trained.run_dir)[1];
  std::vector<std::string> sentences;
  for_each_batch(input, [&](const Batch& batch) {
    const auto translated =
        model.translate(batch, trained.parameters, trained.config.data.text.length);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::vector<std::string> said;
      if (!sequence_of(batch.rows[i], 0).empty()) {  // of nothing it is nothing
        for (const std::int32_t token : translated[i]) said.emplace_back(words.word(token));
      }
      sentences.push_back(join(said, " "));
    }
  });
  return sentences;
}

// Line by line, of a file that may be larger than the memory.
void predict_rows(const Trained& trained, const std::filesystem::path& input,
                  const EachPredictions& each) {
  const std::vector<std::filesystem::path> files = files_of(input.string());
  RowFormatOptions format = trained.config.data.rows.format;
  if (format.format == RowFormat::kAuto) format.format = guess_format(first_line(files));
  const RowParser parser(format);
  const bool numbers = predicts_numbers(trained.config.model);
  std::vector<std::uint64_t> lines(files.size());
  RowBuffer rows;
  for_each_piece(files, [&](const TextPiece& piece) {
    Predictions predictions;
    predictions.classes = numbers ? 0 : 2;
    for_each_line(piece.text, [&](std::string_view line) {
      ++lines[piece.file];
      rows.clear();
      if (const char* wrong = parser.parse(line, rows)) {
        // Who wants to know the label has none, perhaps.
        const char* label = format.format == RowFormat::kCriteo ? "0\t" : "0 ";
        rows.clear();
        if (parser.parse(label + std::string(line), rows) != nullptr) {
          throw DataError("{}:{}: {}", files[piece.file].string(), lines[piece.file], wrong);
        }
      }
      const float score = score_of(row_at(rows.words.data()), trained.parameters);
      if (numbers) {
        predictions.numbers.push_back(score);
      } else {
        const float positive = probability_of(score);
        predictions.probabilities.insert(predictions.probabilities.end(), {1 - positive, positive});
      }
    });
    each(predictions);
    return true;
  });
}

}  // namespace

void predict(const std::filesystem::path& target, const std::filesystem::path& input,
             const EachPredictions& each) {
  const Trained trained = read_trained(target);
  if (is_rows(trained.config.data)) return predict_rows(trained, input, each);
  const auto examples = open_input(trained.config.data, input, trained.run_dir);
  const DatasetInfo info = described(trained, *examples);
  const auto model = make_model(trained, info);
  Predictions predictions;
  if (info.text.sequences == 2) {
    predictions.sentences = translate(*model, *examples, trained);
    return each(predictions);
  }
  predictions.names = class_names(trained);
  predictions.classes = static_cast<std::size_t>(info.classes);
  for_each_batch(*examples, [&](const Batch& batch) {
    predictions.probabilities.resize(batch.size() * predictions.classes);
    model->predict(batch, trained.parameters, predictions.probabilities);
    each(predictions);
  });
}

}  // namespace paceline
