#include "data/images/decode.h"

#include <fstream>
#include <iterator>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace paceline {

bool decode_image(const std::filesystem::path& file, std::uint32_t side,
                  std::span<std::uint8_t> out) {
  // Whoever asked counts what cannot be read, and says so.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in || bytes.empty()) return false;
  try {
    const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_COLOR);
    if (image.empty()) return false;
    const int length = static_cast<int>(side);
    const bool smaller = length < image.cols || length < image.rows;
    cv::Mat sized;
    cv::resize(image, sized, {length, length}, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_LINEAR);
    cv::Mat pixels(length, length, CV_8UC3, out.data());
    cv::cvtColor(sized, pixels, cv::COLOR_BGR2RGB);
    return true;
  } catch (const cv::Exception&) {
    return false;
  }
}

}  // namespace paceline
