// MPI_Comm_join over a TCP connection: of two ranks, and with an end that is no MPI process of the job.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "mpi/dpm/children.hpp"

namespace {

using namespace test;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<unsigned short>(port));
  return address;
}

// A connection between ranks 0 and 1.
int connected() {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  check(made >= 0, "a socket");
  int port = 0;
  if (rank() == 0) {
    sockaddr_in address = loopback(0);
    socklen_t bytes = sizeof address;
    check(bind(made, reinterpret_cast<sockaddr*>(&address), bytes) == 0 && listen(made, 1) == 0, "listen");
    getsockname(made, reinterpret_cast<sockaddr*>(&address), &bytes);
    port = ntohs(address.sin_port);
    MPI_Send(&port, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    const int fd = accept(made, nullptr, nullptr);
    close(made);
    return fd;
  }
  MPI_Recv(&port, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const sockaddr_in address = loopback(port);
  check(connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
  return made;
}

void join_ranks() {
  const int fd = connected();
  MPI_Comm inter;
  MPI_Comm_join(fd, &inter);
  equal(remote_size(inter), 1, "the other side");
  talk(inter, 1000, rank() == 1);
  MPI_Comm_disconnect(&inter);
  // The socket is quiet again, and still ours.
  char out = 'x', in = 0;
  check(write(fd, &out, 1) == 1 && read(fd, &in, 1) == 1 && in == 'x', "the socket afterwards");
  close(fd);
}

void join_closed_socket() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
  MPI_Comm inter = MPI_COMM_WORLD;
  {
    // A peer with another protocol.
    std::thread other([&] {
      char bytes[256] = "nothing that MPI_Comm_join would say";
      check(write(ends[1], bytes, sizeof bytes) == sizeof bytes, "the other end");
    });
    equal(class_of(MPI_Comm_join(ends[0], &inter)), MPI_ERR_OTHER, "another protocol");
    other.join();
  }
  close(ends[1]);
  close(ends[0]);
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
  close(ends[1]);
  equal(class_of(MPI_Comm_join(ends[0], &inter)), MPI_ERR_OTHER, "a closed end");
  close(ends[0]);
  equal(class_of(MPI_Comm_join(-1, &inter)), MPI_ERR_OTHER, "no descriptor");
  check(inter == MPI_COMM_NULL, "no communicator");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  if (rank() < 2) join_ranks();
  join_closed_socket();
}
