// A failed spawn, connect or look-up is an error of the right class that names the remedy, on all members alike, and
// the communicator goes on working.
#include <climits>
#include <tuple>

#include "mpi/dpm/children.hpp"

namespace {

using namespace test;

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  return text;
}

void fails(int error, int error_class, const char* says) {
  equal(class_of(error), error_class, "class");
  const std::string text = text_of(error);
  check(text.find(says) != std::string::npos, text.c_str());
}

MPI_Info info_of(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

int spawn_with(const char* program, MPI_Info info, int n = 1) {
  MPI_Comm children = MPI_COMM_WORLD;
  const int error = MPI_Comm_spawn(program, MPI_ARGV_NULL, n, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  check(children == MPI_COMM_NULL, "no communicator");
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  equal(sum, size(), "the communicator still works");
  return error;
}

void spawn_wrongly(const char* self) {
  fails(spawn_with("/no/such/program", MPI_INFO_NULL), MPI_ERR_SPAWN, "cannot find the program '/no/such/program'");
  fails(spawn_with("/etc/passwd", MPI_INFO_NULL), MPI_ERR_SPAWN, "it is not executable");
  fails(spawn_with("/", MPI_INFO_NULL), MPI_ERR_SPAWN, "it is a directory");
  fails(spawn_with(self, MPI_INFO_NULL, 0), MPI_ERR_SPAWN, "maxprocs is 0");
  fails(spawn_with(self, MPI_INFO_NULL, INT_MAX), MPI_ERR_SPAWN, "ranks cannot be added");
  fails(spawn_with(self, info_of("wdir", "/no/such/folder")), MPI_ERR_SPAWN, "enter the working directory");
  fails(spawn_with(self, info_of("host", "elsewhere.invalid")), MPI_ERR_SPAWN, "is not this machine");
  fails(spawn_with(self, info_of("soft", "many")), MPI_ERR_INFO_VALUE, "not a list of numbers");
  fails(spawn_with(self, info_of("soft", "3:7")), MPI_ERR_SPAWN, "allows no number of processes");
  fails(spawn_with(self, info_of("mpi_initial_errhandler", "none")), MPI_ERR_INFO_VALUE, "is none of");
}

void use_ports_wrongly() {
  MPI_Comm made = MPI_COMM_WORLD;
  const auto connect = [&](const char* port) { return MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made); };
  fails(connect("nonsense"), MPI_ERR_PORT, "which is not a name of MPI_Open_port of this library");
  fails(connect("heddle:0123456789abcdef:0000000000000080"), MPI_ERR_PORT, "a port of another job");
  char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
  MPI_Open_port(MPI_INFO_NULL, port);
  fails(connect(port), MPI_ERR_PORT, "which this process itself has opened");
  check(made == MPI_COMM_NULL, "no communicator");

  const std::string service = "mistakes " + std::to_string(rank());
  fails(MPI_Lookup_name(service.c_str(), MPI_INFO_NULL, found), MPI_ERR_NAME, "has published");
  MPI_Publish_name(service.c_str(), MPI_INFO_NULL, port);
  fails(MPI_Publish_name(service.c_str(), MPI_INFO_NULL, port), MPI_ERR_SERVICE, "published already");
  MPI_Lookup_name(service.c_str(), MPI_INFO_NULL, found);
  check(std::string(found) == port, "the port that was published");
  fails(MPI_Unpublish_name(service.c_str(), MPI_INFO_NULL, "another"), MPI_ERR_SERVICE, "for another port");
  MPI_Unpublish_name(service.c_str(), MPI_INFO_NULL, port);
  fails(MPI_Unpublish_name(service.c_str(), MPI_INFO_NULL, port), MPI_ERR_SERVICE, "is not published");
  const std::string longest(255, 'n'), longer(256, 'n');
  fails(MPI_Publish_name(longer.c_str(), MPI_INFO_NULL, port), MPI_ERR_ARG, "has 256 characters, and may have 255");
  if (rank() == 0) {
    MPI_Publish_name(longest.c_str(), MPI_INFO_NULL, port);
    MPI_Unpublish_name(longest.c_str(), MPI_INFO_NULL, port);
  }
  MPI_Close_port(port);
  fails(MPI_Close_port(port), MPI_ERR_PORT, "which is not open");
  fails(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT, "which is not open");
}

// A port of another process, and one that is closed while another waits for it.
void use_ports_of_others() {
  if (size() < 2) return;
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm made;
  if (rank() == 1) {
    fails(MPI_Close_port(port), MPI_ERR_PORT, "which another process has opened");
    fails(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT, "another process has opened");
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    fails(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT, "");
  } else if (rank() == 0) {
    MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Close_port(port);
  }
}

// A connection that is not accepted in time, and then one that is accepted although the first still stands at the port.
void connect_in_vain() {
  if (size() < 2) return;
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm made = MPI_COMM_WORLD;
  if (rank() == 1) {
    for (const auto& [seconds, error_class, says] :
         {std::tuple{"0", MPI_ERR_PORT, "no process has accepted the connection for 0 seconds"},
          std::tuple{"1", MPI_ERR_PORT, "no process has accepted the connection for 1 seconds"},
          std::tuple{"soon", MPI_ERR_INFO_VALUE, "which is not a number of seconds"},
          std::tuple{"-1", MPI_ERR_INFO_VALUE, "which is not a number of seconds"}}) {
      MPI_Info info = info_of("timeout", seconds);
      fails(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &made), error_class, says);
      check(made == MPI_COMM_NULL, "no communicator");
      MPI_Info_free(&info);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() > 1) return;
  if (rank() == 0)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
  talk(made, 5, rank() == 1);
  MPI_Comm_disconnect(&made);
  if (rank() == 0) MPI_Close_port(port);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  spawn_wrongly(argv[0]);
  use_ports_wrongly();
  use_ports_of_others();
  connect_in_vain();
}
