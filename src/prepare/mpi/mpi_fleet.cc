#include "prepare/mpi/mpi_fleet.h"

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>

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
    std::vector<std::int64_t> all_sizes(size());
    const auto my_size = static_cast<std::int64_t>(mine.size());
    MPI_Allgather(&my_size, 1, MPI_INT64_T, all_sizes.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
    if (std::accumulate(all_sizes.begin(), all_sizes.end(), std::int64_t{0}) >
        std::numeric_limits<int>::max()) {
      throw CommError("processes have too much to tell each other: use a smaller --vocabulary");
    }
    const std::vector<int> sizes(all_sizes.begin(), all_sizes.end());
    std::vector<int> begins(size());
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
    MPI_Allgatherv(mine.data(), static_cast<int>(my_size), MPI_CHAR, all.data(), sizes.data(),
                   begins.data(), MPI_CHAR, MPI_COMM_WORLD);
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

  void abandon(const Error& reason) override { abort_fleet(reason); }

 private:
  void swap_pieces(std::size_t to, const std::vector<FilePiece>& pieces, std::size_t from,
                   const std::vector<std::uint64_t>& coming, const Place& place,
                   std::optional<DataError>& failure) {
    PieceReader reader(pieces);
    PieceWriter writer(coming, [&](std::size_t number) { return place(from, number); });
    std::uint64_t out = 0;
    for (const FilePiece& piece : pieces) out += piece.bytes();
    std::uint64_t in = std::accumulate(coming.begin(), coming.end(), std::uint64_t{0});
    writer.write({}, failure);  // pieces of no bytes
    while (out > 0 || in > 0) {
      const std::size_t sent = reader.read(sending_, failure);
      const auto got = static_cast<std::size_t>(std::min<std::uint64_t>(in, kBlockBytes));
      MPI_Sendrecv(sending_.data(), static_cast<int>(sent), MPI_CHAR,
                   sent > 0 ? static_cast<int>(to) : MPI_PROC_NULL, 0, receiving_.data(),
                   static_cast<int>(got), MPI_CHAR,
                   got > 0 ? static_cast<int>(from) : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      writer.write({receiving_.data(), got}, failure);
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

void abort_fleet(const Error& reason) {
  fmt::print(stderr, "paceline: process {} of {} on {}: {}\n", rank_of_process() + 1,
             count_of_processes(), host_name(), reason.what());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(reason.code()));
  std::abort();
}

}  // namespace paceline
