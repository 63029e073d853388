#include "launch/mpiexec/output_files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace heddle::mpiexec {
namespace {

// As `mkdir -p` for the part before the last slash.
void make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0777);  // if it fails the file can't be made, and that is reported
}

}  // namespace

OutputFileSet::OutputFileSet(const OutputFiles& wanted, int first, int ranks, int all)
    : wanted_(wanted), first_(first), all_(all) {
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string& pattern : {wanted.out, wanted.err})
      if (!pattern.empty()) open_file(pattern, rank);
  }
}

OutputFileSet::~OutputFileSet() {
  for (const auto& [path, sink] : files_) close(sink->fd());
}

Sink* OutputFileSet::open_file(const std::string& pattern, int rank) {
  const std::string path = path_of(pattern, rank);
  std::unique_ptr<Sink>& sink = files_[path];
  if (sink != nullptr) return sink.get();
  if (wanted_.make_folders) make_folders(path);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    throw UsageError("cannot write the output of rank " + std::to_string(first_ + rank) + " to the file '" + path +
                     "': " + strerror(errno));
  sink = std::make_unique<Sink>(fd);
  return sink.get();
}

Sink* OutputFileSet::of(int rank, bool is_stderr) {
  const std::string& pattern = is_stderr ? wanted_.err : wanted_.out;
  return pattern.empty() ? nullptr : open_file(pattern, rank);
}

const std::string* OutputFileSet::drain(int& error) {
  const std::string* first = nullptr;
  for (const auto& [path, sink] : files_) {
    sink->drain();
    if (!sink->broken() || first != nullptr) continue;
    first = &path;
    error = sink->error();
  }
  return first;
}

bool OutputFileSet::waiting() const {
  return std::any_of(files_.begin(), files_.end(), [](const auto& file) { return file.second->waiting(); });
}

std::string OutputFileSet::path_of(const std::string& pattern, int rank) const {
  const std::string number = std::to_string(first_ + rank);
  const std::size_t width = std::to_string(all_ - 1).size();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      path += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case '0':  // %0r
        ++i;
        path.append(width - number.size(), '0').append(number);
        break;
      case 'r':
        path += number;
        break;
      case 'h':
        path += host;
        break;
      case '%':
        path += '%';
        break;
      default:  // MPICH's groups of processes and proxies on nodes: one of each here
        path += '0';
    }
  }
  return path;
}

}  // namespace heddle::mpiexec
