// A connection to another node is opened by the first message to it, and by nothing else: a rank that talks to two of many has two. So
// says the library's own counter; what the kernel knows of is printed, which may be more for a while, as both ends may begin at once.
#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "mpi/tool/tool.hpp"

namespace {

// The descriptors of this process, by number.
std::set<std::string> sockets() {
  std::set<std::string> found;
  DIR* const folder = opendir("/proc/self/fd");
  test::holds(folder != nullptr, "/proc/self/fd");
  while (const dirent* const entry = readdir(folder)) {
    char target[64] = "";
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    const ssize_t length = readlink(path.c_str(), target, sizeof target - 1);
    const std::string text(target, length > 0 ? static_cast<std::size_t>(length) : 0);
    if (text.starts_with("socket:[")) found.insert(text.substr(8, text.size() - 9));
  }
  closedir(folder);
  return found;
}

// TCP connections of this process.
int connections() {
  const std::set<std::string> own = sockets();
  int count = 0;
  for (const char* const file : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream table(file);
    for (std::string line; std::getline(table, line);) {
      std::istringstream words(line);
      std::string word[10];
      for (std::string& one : word) words >> one;
      const bool established = word[3] == "01";
      count += established && own.contains(word[9]) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
  MPI_Init(&argc, &argv);
  int me, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  {
    const test::Counter opened(session, "vni_connections_opened");
    const int before = connections();
    // On four nodes or more each of the two is on another one.
    for (const int distance : {n / 4, n / 2}) {
      const int partner = me ^ distance;
      for (int i = 0; i < 10; ++i) {
        int got = -1;
        MPI_Sendrecv(&me, 1, MPI_INT, partner, i, &got, 1, MPI_INT, partner, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        test::code(got, partner, "whose message came");
      }
    }
    test::code(static_cast<int>(opened.read()), 2, "connections of a rank that sends to two");
    if (me == 0)
      std::printf("%d ranks: rank 0 talks to 2 and has %d TCP connections more\n", n, connections() - before);
  }
  MPI_Finalize();
  test::ok(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
}
