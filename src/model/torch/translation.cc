#include "model/torch/translation.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

constexpr std::int64_t kEncoderLayers = 2;
constexpr std::int64_t kDecoderLayers = 2 * kEncoderLayers;

const ModelSetup& of_sentence_pairs(const ModelSetup& setup) {
  if (setup.data.text.sequences != 2) {
    throw ConfigError("{} learns from pairs of sentences, and {} has none: choose another --data",
                      setup.options.name, setup.data.name);
  }
  return setup;
}

std::vector<Lstm> make_encoder(FlatTensors& tensors, const ModelOptions& options) {
  std::vector<Lstm> layers;
  for (std::int64_t layer = 0; layer < kEncoderLayers; ++layer) {
    const std::int64_t in = layer == 0 ? options.embedding : 2 * options.hidden;
    for (const char* direction : {"forward", "backward"}) {
      layers.emplace_back(tensors, fmt::format("encoder.{}.{}", layer, direction), in,
                          options.hidden, options.rnn);
    }
  }
  return layers;
}

std::vector<Lstm> make_decoder(FlatTensors& tensors, const ModelOptions& options) {
  std::vector<Lstm> layers;
  for (std::int64_t layer = 0; layer < kDecoderLayers; ++layer) {
    const std::int64_t in = layer == 0 ? options.embedding : options.hidden;
    layers.emplace_back(tensors, fmt::format("decoder.{}", layer), in, options.hidden, options.rnn);
  }
  return layers;
}

// Places that turn each sequence around within its own length: what pads it stays behind it.
torch::Tensor turned(const torch::Tensor& lengths, std::int64_t times) {
  const std::int64_t examples = lengths.size(0);
  const torch::Tensor time = torch::arange(times, torch::kInt64).unsqueeze(1);
  const torch::Tensor from = torch::where(time < lengths, lengths - 1 - time, time);
  return (from * examples + torch::arange(examples, torch::kInt64)).flatten();
}

torch::Tensor reordered(const torch::Tensor& states, const torch::Tensor& places) {
  return states.reshape({-1, states.size(2)}).index_select(0, places).view(states.sizes());
}

// What the decoder reads and what it is to say: shifted by one, behind a beginning and
// before an end.
struct Targets {
  torch::Tensor read;    // [times, examples]
  torch::Tensor places;  // of the words, in time and example
  torch::Tensor words;   // at these places
};

Targets targets_of(const Batch& batch, std::int64_t vocabulary, const std::string& data) {
  const auto examples = static_cast<std::int64_t>(batch.size());
  PaddedTokens padded = pad(batch, 1, vocabulary, data);
  std::int64_t longest = 0;
  for (const std::uint8_t* row : batch.rows) {
    longest = std::max(longest, static_cast<std::int64_t>(sequence_of(row, 1).size()));
  }
  Targets targets;
  targets.read = torch::full({longest + 1, examples}, Vocabulary::kPadding, torch::kInt64);
  targets.read[0].fill_(Vocabulary::kBegin);
  if (longest > 0) targets.read.narrow(0, 1, longest).copy_(padded.tokens);
  std::vector<std::int64_t> places, words;
  for (std::int64_t t = 0; t <= longest; ++t) {
    for (std::int64_t e = 0; e < examples; ++e) {
      const auto sentence = sequence_of(batch.rows[static_cast<std::size_t>(e)], 1);
      const auto length = static_cast<std::int64_t>(sentence.size());
      if (t > length) continue;
      places.push_back(t * examples + e);
      words.push_back(t < length ? sentence[static_cast<std::size_t>(t)] : Vocabulary::kEnd);
    }
  }
  targets.places = torch::tensor(places, torch::kInt64);
  targets.words = torch::tensor(words, torch::kInt64);
  return targets;
}

}  // namespace

Translation::Translation(const ModelSetup& setup)
    : setup_(of_sentence_pairs(setup)),
      source_(tensors_, "source", setup.data.text.vocabulary, setup.options.embedding),
      encoder_(make_encoder(tensors_, setup.options)),
      target_(tensors_, "target", setup.data.text.vocabulary, setup.options.embedding),
      decoder_(make_decoder(tensors_, setup.options)),
      projection_(tensors_, "projection", setup.options.hidden, setup.data.text.vocabulary) {}

void Translation::initialize(std::uint64_t seed, std::span<float> parameters) const {
  source_.initialize(seed, parameters);
  for (const Lstm& layer : encoder_) layer.initialize(seed, parameters);
  target_.initialize(seed, parameters);
  for (const Lstm& layer : decoder_) layer.initialize(seed, parameters);
  projection_.initialize(seed, parameters);
}

Translation::Starts Translation::encode(const Pass& pass) const {
  const PaddedTokens text = pad(pass.batch, 0, setup_.data.text.vocabulary, setup_.data.name);
  const torch::Tensor places = turned(text.lengths, text.tokens.size(0));
  torch::Tensor states = source_.forward(text.tokens, pass);
  Starts starts;
  for (std::size_t layer = 0; layer < encoder_.size(); layer += 2) {
    const Lstm::States ahead = encoder_[layer].forward(states, {}, pass);
    const Lstm::States back = encoder_[layer + 1].forward(reordered(states, places), {}, pass);
    for (const Lstm::States& way : {ahead, back}) {
      starts.push_back({last_of(way.outputs, text.lengths), last_of(way.cells, text.lengths)});
    }
    if (layer + 2 < encoder_.size()) {
      states = torch::cat({ahead.outputs, reordered(back.outputs, places)}, 2);
    }
  }
  return starts;
}

// The states of the last layer; `states` becomes where each layer has arrived.
torch::Tensor Translation::decode(const torch::Tensor& tokens, Starts& states,
                                  const Pass& pass) const {
  torch::Tensor x = target_.forward(tokens, pass);
  for (std::size_t layer = 0; layer < decoder_.size(); ++layer) {
    const Lstm::States found = decoder_[layer].forward(x, states[layer], pass);
    x = found.outputs;
    if (!pass.training) states[layer] = {x[x.size(0) - 1], found.cells[x.size(0) - 1]};
  }
  return x;
}

Loss Translation::pass_over(const Pass& pass) const {
  const Targets targets = targets_of(pass.batch, setup_.data.text.vocabulary, setup_.data.name);
  Starts states = encode(pass);
  const torch::Tensor last = decode(targets.read, states, pass);
  const torch::Tensor spoken = last.reshape({-1, last.size(2)}).index_select(0, targets.places);
  const Projection::Result result = projection_.entropy(spoken, targets.words, pass);
  if (pass.training) {
    pass.flow.turn();
    result.loss.backward();
  }
  Loss loss;
  loss.sum = result.loss.item<double>();
  loss.weight = pass.batch.weight;
  loss.examples = pass.batch.size();
  loss.correct = result.correct;
  loss.predictions = static_cast<std::uint64_t>(targets.words.numel());
  return loss;
}

Loss Translation::gradient(const Batch& batch, std::span<const float> parameters,
                           std::span<float> gradient, Flow& flow) {
  tensors_.bind(parameters, gradient);
  return pass_over({tensors_, batch, flow, true, setup_.seed, setup_.options.precision});
}

Loss Translation::evaluate(const Batch& batch, std::span<const float> parameters) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  return pass_over({tensors_, batch, flow, false, setup_.seed, setup_.options.precision});
}

void Translation::predict(const Batch& batch, std::span<const float> parameters,
                          std::span<float> probabilities) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  const Pass pass{tensors_, batch, flow, false, setup_.seed, setup_.options.precision};
  Starts states = encode(pass);
  const torch::Tensor begin =
      torch::full({1, static_cast<std::int64_t>(batch.size())}, Vocabulary::kBegin, torch::kInt64);
  const torch::Tensor found =
      projection_.scores(decode(begin, states, pass)[0], pass).softmax(1).contiguous();
  PACELINE_CHECK(probabilities.size() == static_cast<std::size_t>(found.numel()));
  std::copy_n(found.data_ptr<float>(), probabilities.size(), probabilities.begin());
}

std::vector<std::vector<std::int32_t>> Translation::translate(const Batch& batch,
                                                              std::span<const float> parameters,
                                                              std::size_t most) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  const Pass pass{tensors_, batch, flow, false, setup_.seed, setup_.options.precision};
  Starts states = encode(pass);
  std::vector<std::vector<std::int32_t>> sentences(batch.size());
  std::vector<bool> ended(batch.size());
  torch::Tensor word =
      torch::full({1, static_cast<std::int64_t>(batch.size())}, Vocabulary::kBegin, torch::kInt64);
  for (std::size_t t = 0;
       t < most && !std::all_of(ended.begin(), ended.end(), [](bool e) { return e; }); ++t) {
    torch::Tensor scores = projection_.scores(decode(word, states, pass)[0], pass);
    // What is no word cannot be said.
    for (const std::int64_t special : {Vocabulary::kPadding, Vocabulary::kBegin}) {
      scores.select(1, special).fill_(-INFINITY);
    }
    word = scores.argmax(1).unsqueeze(0);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto said = word[0][static_cast<std::int64_t>(i)].item<std::int64_t>();
      if (said == Vocabulary::kEnd) ended[i] = true;
      if (!ended[i]) sentences[i].push_back(static_cast<std::int32_t>(said));
    }
  }
  return sentences;
}

}  // namespace paceline
