// Writes prepared reviews as HDF5; docs/prepared.md describes the file.
//
// Chunks come deflated and are written as they are. The bytes of the file follow from what it is
// given: it holds no times. One thread at a time. Throws DataError naming the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace paceline {

struct SequenceShape {
  std::uint32_t length = 0;      // numbers of a row
  std::uint32_t bytes = 2;       // of a number
  std::uint64_t chunk_rows = 0;  // of ids
  std::uint64_t label_rows = 0;  // of a chunk of labels
};

class SequenceFile {
 public:
  // Appears under its name with commit(); until then it is NAME.partial.
  SequenceFile(const std::filesystem::path& path, const SequenceShape& shape);
  ~SequenceFile();

  void begin_part(const std::string& name, std::uint64_t rows);
  void add_ids(const std::string& chunk);  // the next chunk of the part
  void add_labels(const std::string& chunk);

  void set_words(const std::string& name, const std::vector<std::string>& words);
  void set_attribute(const std::string& name, const std::string& text);
  void set_attribute(const std::string& name, std::uint64_t number);
  void close();   // others may write to NAME.partial now
  void commit();  // closes it, if need be

  static std::filesystem::path partial_path(const std::filesystem::path& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline
