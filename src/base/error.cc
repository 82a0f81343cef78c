#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

namespace paceline {
namespace {

void shorten(std::string& text) {
  constexpr std::string_view kMore = "…";
  if (text.size() <= Error::kMostBytes) return;
  std::size_t end = Error::kMostBytes - kMore.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // in UTF-8
  text.resize(end);
  text += kMore;
}

std::string in_words(const std::vector<Reason>& reasons) {
  std::string words;
  for (auto reason = reasons.rbegin(); reason != reasons.rend(); ++reason) {
    const bool both = !reason->sentence.empty() && !words.empty();
    words = fmt::format("{}{}{}{}", reason->sentence, both ? ": " : "", words, reason->remark);
  }
  return words;
}

std::vector<Reason> with_first(Reason first, std::vector<Reason> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

}  // namespace

Error::Error(std::vector<Reason> reasons) {
  PACELINE_CHECK(!reasons.empty());
  reasons.resize(std::min(reasons.size(), kMostReasons));
  for (Reason& reason : reasons) {
    shorten(reason.sentence);
    shorten(reason.about);
    shorten(reason.remark);
  }
  std::string words = in_words(reasons);
  content_ = std::make_shared<const Content>(Content{std::move(reasons), std::move(words)});
}

Error::Error(const Error& cause, std::string sentence, ExitCode code)
    : Error(with_first({std::move(sentence), code}, cause.reasons())) {}

void Error::set_about(std::string member) {
  std::vector<Reason> reasons = content_->reasons;
  reasons.front().about = std::move(member);
  *this = Error(std::move(reasons));
}

void Error::add_remark(const std::string& words) {
  std::vector<Reason> reasons = content_->reasons;
  reasons.front().remark += words;
  *this = Error(std::move(reasons));
}

void Error::explain(const std::string& member, const Error& cause) {
  const auto found = std::ranges::find(reasons(), member, &Reason::about);
  if (found == reasons().end()) return;
  std::vector<Reason> better(reasons().begin(), found + 1);
  better.insert(better.end(), cause.reasons().begin(), cause.reasons().end());
  *this = Error(std::move(better));
}

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::filesystem::filesystem_error& error) {
    return DataError("cannot use {}: {}", error.path1().string(), error.code().message());
  } catch (const std::bad_alloc&) {
    return ResourceError("this machine has not enough memory left");
  } catch (const std::exception& error) {
    return Error(std::string("unexpected: ") + error.what());
  }
}

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

void throw_unwritable(const std::string& file, int error) {
  if (error == ENOSPC || error == EDQUOT) {
    throw DiskFull("cannot write {}: {}", file, errno_text(error));
  }
  throw DataError("cannot write {}: {}", file, errno_text(error));
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "paceline: internal error: %s does not hold at %s:%d\n", condition, file,
               line);
  std::abort();
}

}  // namespace paceline
