#include "prepare/mpi/mpi_fleet.h"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>

#include "base/file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{4} << 20;

int rank_of_process() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int count_of_processes() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return name.data();
}

// Until all are there. MPI's own waits keep a core busy, which others on this host may need.
void wait_for_all() {
  constexpr std::chrono::microseconds kShortest(20);
  constexpr std::chrono::microseconds kLongest(5000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (auto pause = kShortest;; pause = std::min(2 * pause, kLongest)) {
    int arrived = 0;
    MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
    if (arrived != 0) return;
    std::this_thread::sleep_for(pause);
  }
}

// The bytes of pieces, one behind the other. After a failure come zeros: the receiver counts on
// all bytes, and hears of the failure elsewhere.
class PieceReader {
 public:
  explicit PieceReader(const std::vector<FilePiece>& pieces) : pieces_(pieces) {}
  ~PieceReader() { close(); }

  std::size_t read(char* into, std::size_t most, std::optional<DataError>& failure) {
    std::size_t filled = 0;
    while (filled < most && piece_ < pieces_.size()) {
      const FilePiece& piece = pieces_[piece_];
      const std::uint64_t in_file = piece.end - piece.begin;
      const std::uint64_t all = in_file + piece.tail.size();
      if (at_ == all) {
        close();
        ++piece_;
        at_ = 0;
        continue;
      }
      const auto some = static_cast<std::size_t>(
          std::min<std::uint64_t>(most - filled, (at_ < in_file ? in_file : all) - at_));
      if (at_ >= in_file) {
        std::copy_n(piece.tail.data() + (at_ - in_file), some, into + filled);
      } else if (!failure) {
        read_file(piece, into + filled, some, failure);
      }
      at_ += some;
      filled += some;
    }
    return filled;
  }

 private:
  void read_file(const FilePiece& piece, char* into, std::size_t bytes,
                 std::optional<DataError>& failure) {
    if (file_ < 0) file_ = ::open(piece.path.c_str(), O_RDONLY | O_CLOEXEC);
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = file_ < 0 ? -1
                                    : ::pread(file_, into + done, bytes - done,
                                              static_cast<off_t>(piece.begin + at_ + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        failure = DataError("cannot read {}: {}", piece.path.string(),
                            got == 0 ? "it is cut off" : errno_text(errno));
        return;
      }
      done += static_cast<std::size_t>(got);
    }
  }
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  const std::vector<FilePiece>& pieces_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;  // in the piece
  int file_ = -1;
};

// Makes files of what comes. After a failure bytes are dropped.
class PieceWriter {
 public:
  PieceWriter(std::vector<std::uint64_t> sizes, std::function<fs::path(std::size_t)> place)
      : sizes_(std::move(sizes)), place_(std::move(place)) {}

  void write(const char* bytes, std::size_t count, std::optional<DataError>& failure) {
    while (count > 0 || (piece_ < sizes_.size() && sizes_[piece_] == at_)) {
      const auto some =
          static_cast<std::size_t>(std::min<std::uint64_t>(count, sizes_[piece_] - at_));
      try {
        if (!failure) put({bytes, some});
      } catch (const DataError& error) {
        failure = error;
      }
      bytes += some;
      count -= some;
      at_ += some;
      if (at_ < sizes_[piece_]) continue;
      ++piece_;
      at_ = 0;
    }
  }

 private:
  void put(std::string_view bytes) {
    if (!file_) file_.emplace(place_(piece_));
    file_->write(bytes);
    if (at_ + bytes.size() < sizes_[piece_]) return;
    file_->commit(AtomicFile::Durable::kLater);
    file_.reset();
  }

  std::vector<std::uint64_t> sizes_;
  std::function<fs::path(std::size_t)> place_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;  // in the piece
  std::optional<AtomicFile> file_;
};

class MpiFleet : public Fleet {
 public:
  MpiFleet() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    host_ = host_name();
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &neighbours_);
    MPI_Comm_free(&here);
  }
  ~MpiFleet() override { MPI_Finalize(); }

  std::size_t rank() const override { return static_cast<std::size_t>(rank_of_process()); }
  std::size_t size() const override { return static_cast<std::size_t>(count_of_processes()); }
  unsigned neighbours() const override { return static_cast<unsigned>(neighbours_); }
  std::string host() const override { return host_; }

  std::vector<std::string> gather(const std::string& mine) override {
    wait_for_all();
    std::vector<int> sizes(size());
    const int my_size = static_cast<int>(mine.size());
    MPI_Allgather(&my_size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> begins(size());
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
    MPI_Allgatherv(mine.data(), my_size, MPI_CHAR, all.data(), sizes.data(), begins.data(),
                   MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size(); ++i) {
      texts.push_back(
          all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(sizes[i])));
    }
    return texts;
  }

  // In rounds: to the one next to this, then to the one after that, and so on, so that everybody
  // sends to one and receives from one at a time.
  std::vector<fs::path> exchange(const std::vector<std::vector<FilePiece>>& outgoing,
                                 const Place& place) override {
    nlohmann::json sizes = nlohmann::json::array();
    for (const auto& pieces : outgoing) {
      sizes.push_back(nlohmann::json::array());
      for (const FilePiece& piece : pieces) {
        sizes.back().push_back(piece.bytes());
      }
    }
    const std::vector<std::string> all_sizes = gather(sizes.dump());
    std::vector<fs::path> received;
    std::optional<DataError> failure;
    for (std::size_t distance = 1; distance < size(); ++distance) {
      const std::size_t to = (rank() + distance) % size();
      const std::size_t from = (rank() + size() - distance) % size();
      const auto coming =
          nlohmann::json::parse(all_sizes[from])[rank()].get<std::vector<std::uint64_t>>();
      swap_pieces(to, outgoing[to], from, coming, place, failure);
      for (std::size_t i = 0; i < coming.size(); ++i) received.push_back(place(from, i));
    }
    if (failure) throw *failure;
    return received;
  }

  std::unique_ptr<SharedTables> open(const fs::path& file) override {
    return open_mpi_tables(file);
  }

  void abandon(const std::string& reason, ExitCode code) override { abort_fleet(reason, code); }

 private:
  void swap_pieces(std::size_t to, const std::vector<FilePiece>& pieces, std::size_t from,
                   const std::vector<std::uint64_t>& coming, const Place& place,
                   std::optional<DataError>& failure) {
    PieceReader reader(pieces);
    PieceWriter writer(coming, [&](std::size_t number) { return place(from, number); });
    std::uint64_t out = 0;
    for (const FilePiece& piece : pieces) out += piece.bytes();
    std::uint64_t in = std::accumulate(coming.begin(), coming.end(), std::uint64_t{0});
    writer.write(nullptr, 0, failure);  // pieces of no bytes
    while (out > 0 || in > 0) {
      const std::size_t sent = reader.read(sending_.data(), kBlockBytes, failure);
      const auto got = static_cast<std::size_t>(std::min<std::uint64_t>(in, kBlockBytes));
      MPI_Sendrecv(sending_.data(), static_cast<int>(sent), MPI_CHAR,
                   sent > 0 ? static_cast<int>(to) : MPI_PROC_NULL, 0, receiving_.data(),
                   static_cast<int>(got), MPI_CHAR,
                   got > 0 ? static_cast<int>(from) : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      writer.write(receiving_.data(), got, failure);
      out -= sent;
      in -= got;
    }
  }

  std::string host_;
  int neighbours_ = 1;
  std::vector<char> sending_ = std::vector<char>(kBlockBytes);
  std::vector<char> receiving_ = std::vector<char>(kBlockBytes);
};

}  // namespace

std::unique_ptr<Fleet> make_mpi_fleet() {
  return std::make_unique<MpiFleet>();
}

void abort_fleet(const std::string& reason, ExitCode code) {
  fmt::print(stderr, "paceline: process {} of {} on {}: {}\n", rank_of_process() + 1,
             count_of_processes(), host_name(), reason);
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  std::abort();
}

}  // namespace paceline
