#include <hdf5.h>
#include <mpi.h>

#include <cerrno>

#include "prepare/mpi/mpi_fleet.h"

namespace paceline {
namespace {

// As in data/hdf5.h, whose functions are those of the other build.
template <herr_t (*kClose)(hid_t)>
class Owned {
 public:
  explicit Owned(hid_t id) : id_(id) {}
  ~Owned() {
    if (id_ >= 0) kClose(id_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

hid_t open_together(const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Owned<H5Pclose> access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  errno = 0;
  return H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
}

// What fails here fails in this process alone, in the middle of what all do: nobody can go on.
class MpiTables : public SharedTables {
 public:
  explicit MpiTables(const std::filesystem::path& path) : path_(path), file_(open_together(path)) {
    expect(file_ >= 0);
  }
  ~MpiTables() override {
    errno = 0;
    expect(H5Fclose(file_) >= 0);
  }

  void write(const std::string& table, std::uint64_t first, std::uint64_t count,
             const std::string& rows) override {
    errno = 0;
    const Owned<H5Dclose> open(H5Dopen2(file_, table.c_str(), H5P_DEFAULT));
    expect(open >= 0);
    const Owned<H5Tclose> type(H5Dget_type(open));
    const Owned<H5Sclose> space(H5Dget_space(open));
    std::array<hsize_t, 2> size = {0, 1};
    PACELINE_CHECK(H5Sget_simple_extent_ndims(space) <= 2);
    H5Sget_simple_extent_dims(space, size.data(), nullptr);
    PACELINE_CHECK(rows.size() == count * size[1] * H5Tget_size(type));
    const std::array<hsize_t, 2> begin = {first, 0};
    const std::array<hsize_t, 2> block = {count, size[1]};
    const Owned<H5Sclose> memory(
        H5Screate_simple(H5Sget_simple_extent_ndims(space), block.data(), nullptr));
    if (count > 0) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, block.data(), nullptr);
    } else {
      H5Sselect_none(space);
      H5Sselect_none(memory);
    }
    const Owned<H5Pclose> transfer(H5Pcreate(H5P_DATASET_XFER));
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    expect(H5Dwrite(open, type, memory, space, transfer, rows.data()) >= 0);
  }

 private:
  void expect(bool done) const {
    if (done) return;
    const int error = errno;  // which parallel HDF5 does not always leave
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    abort_fleet(DataError("cannot write {}: {}", path_.string(),
                          error == 0 ? "is its disk full?" : errno_text(error)));
  }

  std::filesystem::path path_;
  hid_t file_;
};

}  // namespace

std::unique_ptr<SharedTables> open_mpi_tables(const std::filesystem::path& file) {
  return std::make_unique<MpiTables>(file);
}

}  // namespace paceline
