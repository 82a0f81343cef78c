// What the plugin brings.
#include "base/plugin.h"

#include "model/catalogue/registry.h"
#include "model/torch/alexnet.h"
#include "model/torch/image_quality.h"
#include "model/torch/memory.h"
#include "model/torch/script.h"
#include "model/torch/sentiment.h"
#include "model/torch/translation.h"
#include "model/torch/weights.h"

namespace paceline {

extern "C" void paceline_plugin_start() {
  keep_freed_memory();
  register_weight_writer(write_weights);
  register_model("alexnet",
                 [](const ModelSetup& setup) { return std::make_unique<AlexNet>(setup); });
  register_model("image-quality",
                 [](const ModelSetup& setup) { return std::make_unique<ImageQuality>(setup); });
  register_model("translation",
                 [](const ModelSetup& setup) { return std::make_unique<Translation>(setup); });
  register_model("script",
                 [](const ModelSetup& setup) { return std::make_unique<ScriptModel>(setup); });
  register_model("sentiment",
                 [](const ModelSetup& setup) { return std::make_unique<Sentiment>(setup); });
}

}  // namespace paceline
