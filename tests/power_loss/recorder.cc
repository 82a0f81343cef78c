#include "power_loss/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/file/file.h"
#include "power_loss/watched_tree.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Arguments = std::array<std::uint64_t, 6>;

// Calls that change files, or may do so behind our back, or say that they are to be on the disk.
// Those between #ifdef exist on some processors only.
constexpr auto kWatched =
    std::to_array<long>({SYS_openat,    SYS_write,           SYS_writev,    SYS_pwrite64,
                         SYS_pwritev,   SYS_pwritev2,        SYS_ftruncate, SYS_truncate,
                         SYS_fallocate, SYS_fsync,           SYS_fdatasync, SYS_renameat,
                         SYS_renameat2, SYS_unlinkat,        SYS_mkdirat,   SYS_linkat,
                         SYS_symlinkat, SYS_copy_file_range, SYS_sendfile,  SYS_splice,
                         SYS_mmap,      SYS_ioctl,           SYS_mknodat,   SYS_open_by_handle_at,
                         SYS_io_setup,  SYS_io_uring_setup,
#ifdef SYS_open
                         SYS_open,      SYS_creat,           SYS_rename,    SYS_unlink,
                         SYS_rmdir,     SYS_mkdir,           SYS_link,      SYS_symlink,
                         SYS_mknod,
#endif
                         SYS_openat2});

// Makes the kernel stop this thread, and all that come from it, at these calls and at no others.
void stop_at_watched_calls() {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : kWatched) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    ::_exit(121);
  }
}

// A call of one thread, between its beginning and its end.
struct Call {
  long number = -1;
  Arguments arguments{};
  std::size_t events = 0;                       // that were there when it began
  std::optional<WatchedTree::Place> place{};    // of its first path
  std::optional<WatchedTree::Place> place_2{};  // of its second
  int open_flags = 0;
};

class Tracer {
 public:
  Tracer(const fs::path& folder, pid_t first) : tree_(folder), first_(first), known_({first}) {}
  ~Tracer() {
    for (const pid_t thread : known_) ::kill(thread, SIGKILL);  // there is none unless this failed
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Until the last process has ended.
  void run() {
    int status = 0;
    while (true) {
      const pid_t thread = ::waitpid(-1, &status, __WALL);
      if (thread < 0 && errno == EINTR) continue;
      if (thread < 0) return;
      if (WIFSTOPPED(status)) {
        stopped(thread, status);
        continue;
      }
      known_.erase(thread);
      if (thread != first_) continue;
      tree_.log().exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
  }

  DiskLog take() { return std::move(tree_.log()); }

 private:
  void stopped(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    const int event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP) {
      begin(thread);
      ::ptrace(PTRACE_SYSCALL, thread, 0, 0);
    } else if (signal == (SIGTRAP | 0x80)) {
      end(thread);
      ::ptrace(PTRACE_CONT, thread, 0, 0);
    } else {
      const bool is_new = known_.insert(thread).second;  // its first stop is ptrace's own
      const bool passes = event == 0 && !(is_new && signal == SIGSTOP);
      ::ptrace(PTRACE_CONT, thread, 0, passes ? signal : 0);
    }
  }

  static __ptrace_syscall_info info_of(pid_t thread) {
    __ptrace_syscall_info info{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
    return info;
  }

  void begin(pid_t thread) {
    const __ptrace_syscall_info info = info_of(thread);
    Call& call = calls_[thread] = {};
    call.number = static_cast<long>(info.seccomp.nr);
    std::copy_n(info.seccomp.args, call.arguments.size(), call.arguments.begin());
    call.events = tree_.events();
    const Arguments& a = call.arguments;
    switch (call.number) {
      case SYS_openat:
        call.place = place(thread, a[0], a[1]);
        call.open_flags = static_cast<int>(a[2]);
        break;
      case SYS_unlinkat:
      case SYS_mkdirat:
      case SYS_mknodat:
      case SYS_openat2:
        call.place = place(thread, a[0], a[1]);
        break;
      case SYS_renameat:
      case SYS_renameat2:
      case SYS_linkat:
        call.place = place(thread, a[0], a[1]);
        call.place_2 = place(thread, a[2], a[3]);
        break;
      case SYS_symlinkat:
        call.place = place(thread, a[1], a[2]);
        break;
      case SYS_truncate:
        call.place = place(thread, AT_FDCWD, a[0]);
        break;
#ifdef SYS_open
      case SYS_open:
        call.open_flags = static_cast<int>(a[1]);
        [[fallthrough]];
      case SYS_unlink:
      case SYS_rmdir:
      case SYS_mkdir:
      case SYS_mknod:
        call.place = place(thread, AT_FDCWD, a[0]);
        break;
      case SYS_creat:
        call.place = place(thread, AT_FDCWD, a[0]);
        call.open_flags = O_CREAT | O_TRUNC;
        break;
      case SYS_rename:
      case SYS_link:
        call.place = place(thread, AT_FDCWD, a[0]);
        call.place_2 = place(thread, AT_FDCWD, a[1]);
        break;
      case SYS_symlink:
        call.place = place(thread, AT_FDCWD, a[1]);
        break;
#endif
      default:
        break;
    }
  }

  void end(pid_t thread) {
    const __ptrace_syscall_info info = info_of(thread);
    const Call call = calls_[thread];
    if (info.exit.is_error != 0) return;
    const auto result = static_cast<std::uint64_t>(info.exit.rval);
    const Arguments& a = call.arguments;
    switch (call.number) {
      case SYS_openat:
#ifdef SYS_open
      case SYS_open:
      case SYS_creat:
#endif
        return opened(thread, call, result);
      case SYS_write:
      case SYS_writev:
      case SYS_sendfile:
        return wrote(thread, a[0], std::nullopt, result);
      case SYS_pwrite64:
      case SYS_pwritev:
        return wrote(thread, a[0], a[3], result);
      case SYS_copy_file_range:
        if (a[3] != 0) expect_elsewhere(thread, a[2], call);
        return wrote(thread, a[2], std::nullopt, result);
      case SYS_fallocate:
        if (a[1] != 0) expect_elsewhere(thread, a[0], call);  // holes, and parts that move
        return resized(thread, a[0]);
      case SYS_ftruncate:
        return resized(thread, a[0]);
      case SYS_fsync:
      case SYS_fdatasync:
        if (const auto node = node_of(thread, a[0])) tree_.synced(*node, call.events);
        return;
      case SYS_renameat2:
        // An exchange, say.
        if ((a[4] & ~RENAME_NOREPLACE) != 0 && (call.place || call.place_2)) refuse(call);
        return renamed(call);
      case SYS_renameat:
#ifdef SYS_open
      case SYS_rename:
#endif
        return renamed(call);
      case SYS_unlinkat:
#ifdef SYS_open
      case SYS_unlink:
      case SYS_rmdir:
#endif
        if (call.place) tree_.removed(*call.place);
        return;
      case SYS_mkdirat:
#ifdef SYS_open
      case SYS_mkdir:
#endif
        return made_folder(call);
      case SYS_mmap:
        // What can be written to by the file could be made writable later.
        if ((a[3] & MAP_TYPE) != MAP_PRIVATE && (a[3] & MAP_ANONYMOUS) == 0 &&
            is_writable(thread, a[4])) {
          expect_elsewhere(thread, a[4], call);
        }
        return;
      case SYS_ioctl:
        if (a[1] == FICLONE || a[1] == FICLONERANGE || a[1] == FIDEDUPERANGE) {
          expect_elsewhere(thread, a[0], call);
        }
        return;
      case SYS_open_by_handle_at:
      case SYS_io_setup:
      case SYS_io_uring_setup:
        refuse(call);
      case SYS_pwritev2:
        return expect_elsewhere(thread, a[0], call);
      case SYS_splice:
        return expect_elsewhere(thread, a[2], call);
      default:
        if (call.place || call.place_2) refuse(call);
    }
  }

  [[noreturn]] static void refuse(const Call& call) {
    throw std::runtime_error(fmt::format(
        "system call {} changes files in a way that the recorder does not know: teach it",
        call.number));
  }
  void expect_elsewhere(pid_t thread, std::uint64_t file, const Call& call) const {
    if (node_of(thread, file)) refuse(call);
  }

  // ---- what a thread means by numbers ------------------------------------------------------

  static std::string text_at(pid_t thread, std::uint64_t address) {
    const int memory = ::open(fmt::format("/proc/{}/mem", thread).c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    for (char c = 0; ::pread(memory, &c, 1, static_cast<off_t>(address + text.size())) == 1;) {
      if (c == '\0') break;
      text += c;
    }
    ::close(memory);
    return text;
  }

  std::optional<WatchedTree::Place> place(pid_t thread, std::uint64_t folder,
                                          std::uint64_t address) const {
    const fs::path path = text_at(thread, address);
    if (path.is_absolute()) return tree_.place_of(path);
    const auto number = static_cast<int>(folder);
    const std::string base = number == AT_FDCWD ? fmt::format("/proc/{}/cwd", thread)
                                                : fmt::format("/proc/{}/fd/{}", thread, number);
    std::error_code none;
    return tree_.place_of(fs::read_symlink(base, none) / path);
  }

  static fs::path file_path(pid_t thread, std::uint64_t file) {
    return fmt::format("/proc/{}/fd/{}", thread, static_cast<int>(file));
  }

  static struct stat status_of(pid_t thread, std::uint64_t file) {
    struct stat status {};
    if (::stat(file_path(thread, file).c_str(), &status) != 0) status.st_ino = 0;
    return status;
  }

  std::optional<Node> node_of(pid_t thread, std::uint64_t file) const {
    return tree_.node_of(status_of(thread, file));
  }

  // Where the thread would read or write next, and how the file was opened.
  struct Descriptor {
    std::uint64_t position = 0;
    int flags = 0;
  };
  static Descriptor descriptor_of(pid_t thread, std::uint64_t file) {
    std::ifstream info(fmt::format("/proc/{}/fdinfo/{}", thread, static_cast<int>(file)));
    std::string word;
    Descriptor found;
    info >> word >> found.position >> word >> std::oct >> found.flags;
    return found;
  }
  static bool is_writable(pid_t thread, std::uint64_t file) {
    return (descriptor_of(thread, file).flags & O_ACCMODE) != O_RDONLY;
  }

  // ---- what has happened -------------------------------------------------------------------

  void opened(pid_t thread, const Call& call, std::uint64_t file) {
    if (!call.place) return;
    const struct stat status = status_of(thread, file);
    if ((call.open_flags & O_CREAT) != 0) tree_.created(*call.place, status);
    const auto node = tree_.node_of(status);
    if (node && (call.open_flags & O_TRUNC) != 0) tree_.resized(*node, 0);
  }

  void wrote(pid_t thread, std::uint64_t file, std::optional<std::uint64_t> offset,
             std::uint64_t count) {
    const auto node = node_of(thread, file);
    if (!node || count == 0) return;
    const std::uint64_t from = offset.value_or(descriptor_of(thread, file).position - count);
    std::string bytes(count, '\0');
    const int in = ::open(file_path(thread, file).c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t got = ::pread(in, bytes.data(), count, static_cast<off_t>(from));
    ::close(in);
    if (got != static_cast<ssize_t>(count))
      throw std::runtime_error("cannot read what was written");
    tree_.wrote(*node, from, std::move(bytes));
  }

  void resized(pid_t thread, std::uint64_t file) {
    const struct stat status = status_of(thread, file);
    if (const auto node = tree_.node_of(status)) {
      tree_.resized(*node, static_cast<std::uint64_t>(status.st_size));
    }
  }

  void renamed(const Call& call) {
    if (!call.place && !call.place_2) return;
    if (!call.place || !call.place_2) refuse(call);  // into the folder, or out of it
    tree_.renamed(*call.place, *call.place_2);
  }

  void made_folder(const Call& call) {
    if (!call.place) return;
    // Only its number is missing, which nobody else can have changed: this thread has not gone on.
    tree_.created(*call.place, tree_.status_at(*call.place));
  }

  WatchedTree tree_;
  pid_t first_;
  std::set<pid_t> known_;
  std::map<pid_t, Call> calls_;
};

std::string content_of(int file) {
  return read_text(fmt::format("/proc/self/fd/{}", file));
}

// What it throws must not get back into the test, which would go on in two processes.
int exit_code_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace

DiskLog record(const fs::path& folder, const std::function<int()>& work) {
  const int output = ::memfd_create("output", 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::ptrace(PTRACE_TRACEME, 0, 0, 0);
    ::raise(SIGSTOP);
    stop_at_watched_calls();
    ::_exit(exit_code_of(work));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) throw std::runtime_error("cannot trace a process: is ptrace allowed?");
  ::ptrace(PTRACE_SETOPTIONS, child, 0,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
               PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
  Tracer tracer(folder, child);
  ::ptrace(PTRACE_CONT, child, 0, 0);
  tracer.run();
  DiskLog log = tracer.take();
  log.output = content_of(output);
  ::close(output);
  return log;
}

DiskLog record(const fs::path& folder, const std::vector<std::string>& program) {
  return record(folder, [&]() -> int {
    // Looking for leaks needs ptrace, too, which is taken.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    if (::chdir(fs::canonical(folder).parent_path().c_str()) != 0) return 122;
    std::vector<char*> words;
    for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    return 127;
  });
}

}  // namespace paceline
