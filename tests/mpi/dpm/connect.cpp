// MPI_Comm_accept and MPI_Comm_connect: between parts of one world, again and again, from several clients at once, and between two
// worlds that were spawned one after the other and know each other by a published name.
#include <thread>

#include "mpi/dpm/children.hpp"

namespace {

using namespace test;

constexpr char service[] = "heddle test of connections";

// Rank 0 accepts, the others connect, all together and then each for itself.
void connect_parts() {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 0, rank(), &part);
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    MPI_Comm inter;
    if (rank() == 0)
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter);
    else
      MPI_Comm_connect(rank() == 1 ? port : nullptr, MPI_INFO_NULL, 0, part, &inter);
    equal(remote_size(inter), rank() == 0 ? size() - 1 : 1, "the other side");
    talk(inter, round == 1 ? 100'000 : 5, rank() != 0);
    MPI_Comm_disconnect(&inter);
  }
  for (int client = 1; client < size(); ++client) {
    MPI_Comm inter;
    if (rank() == 0)
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    else if (rank() == client)
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    else
      continue;
    talk(inter, 5, rank() != 0);
    MPI_Comm_disconnect(&inter);
  }
  if (rank() == 0) MPI_Close_port(port);
  MPI_Comm_free(&part);
}

// Clients that come at the same time, to a server whose threads accept.
void connect_at_once() {
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank() == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank() != 0) {
    MPI_Comm inter;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    int number = rank();
    MPI_Send(&number, 1, MPI_INT, 0, 0, inter);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    equal(number, -rank(), "an answer over the own connection");
    MPI_Comm_disconnect(&inter);
    return;
  }
  std::vector<MPI_Comm> own(static_cast<std::size_t>(size()));
  for (MPI_Comm& comm : own) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  std::vector<std::thread> threads;
  for (int client = 1; client < size(); ++client)
    threads.emplace_back([&, client] {
      MPI_Comm inter;
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, own[static_cast<std::size_t>(client)], &inter);
      int number;
      MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
      number = -number;
      MPI_Send(&number, 1, MPI_INT, 0, 0, inter);
      MPI_Comm_disconnect(&inter);
    });
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : own) MPI_Comm_free(&comm);
  MPI_Close_port(port);
}

void be_server() {
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank() == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
  }
  MPI_Comm comm = parent(), inter;
  MPI_Barrier(comm);
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  talk(inter, 1000, false);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_disconnect(&comm);  // port and name go with the process
}

void be_client() {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Lookup_name(service, MPI_INFO_NULL, port);
  MPI_Comm comm = parent(), inter;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  talk(inter, 1000, true);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_disconnect(&comm);
}

void connect_worlds(const char* program) {
  MPI_Comm servers = spawn(program, {"server"}, 2, MPI_COMM_WORLD);
  MPI_Barrier(servers);
  MPI_Comm clients = spawn(program, {"client"}, 1, MPI_COMM_WORLD);
  MPI_Comm_disconnect(&servers);
  MPI_Comm_disconnect(&clients);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const std::string as = part(argc, argv);
  if (as == "server") {
    be_server();
  } else if (as == "client") {
    be_client();
  } else {
    connect_parts();
    connect_at_once();
    connect_worlds(argv[0]);
  }
}
