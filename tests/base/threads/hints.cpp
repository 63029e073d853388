// A program's assertions about a communicator may make it faster, but never changes an answer: legal programs under each
// combination of the standard's assertions, from many threads.
#include <deque>
#include <string>

#include "base/threads/received_once.hpp"

namespace {

using namespace test;

const int threads = team_size(6);
constexpr int messages = 24;

struct Hints {
  bool no_any_tag, no_any_source, exact_length, allow_overtaking;

  explicit Hints(unsigned bits)
      : no_any_tag((bits & 1) != 0),
        no_any_source((bits & 2) != 0),
        exact_length((bits & 4) != 0),
        allow_overtaking((bits & 8) != 0) {}

  MPI_Comm make_comm() const {
    MPI_Info info;
    MPI_Info_create(&info);
    const auto set = [&](const char* key, bool value) { MPI_Info_set(info, key, value ? "true" : "false"); };
    set("mpi_assert_no_any_tag", no_any_tag);
    set("mpi_assert_no_any_source", no_any_source);
    set("mpi_assert_exact_length", exact_length);
    set("mpi_assert_allow_overtaking", allow_overtaking);
    MPI_Comm comm;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
  }
};

int size_of(int number) {
  constexpr int mixed[] = {16, 1000, 12, 30000, 104, 140000};
  return mixed[number % 6];
}

// Every thread has the tags from t * messages on; a tag names one message, so overtaking changes nothing.
void tag_names_message(const Hints& hints, MPI_Comm comm) {
  in_threads(threads, [&](int t) {
    std::deque<std::vector<unsigned char>> out, in;
    std::vector<MPI_Request> sends, receives;
    const auto tag = [&](int i) { return t * messages + i; };
    for (int i = 0; i < messages; ++i) {
      out.push_back(message(mix(rank(), tag(i)), size_of(i)));
      MPI_Isend(out.back().data(), size_of(i), MPI_BYTE, right(), tag(i), comm, &sends.emplace_back());
    }
    for (int i = 0; i < messages; ++i) {
      const int bytes = size_of(i) + (hints.exact_length ? 0 : 100);
      in.emplace_back(static_cast<std::size_t>(bytes));
      const bool any = !hints.no_any_source && i % 3 == 0;
      MPI_Irecv(in.back().data(), bytes, MPI_BYTE, any ? MPI_ANY_SOURCE : left(), tag(i), comm,
                &receives.emplace_back());
    }
    std::vector<MPI_Status> statuses(receives.size());
    MPI_Waitall(messages, receives.data(), statuses.data());
    for (int i = 0; i < messages; ++i) {
      const auto place = static_cast<std::size_t>(i);
      equal(statuses[place].MPI_TAG, tag(i), "tag");
      equal(count_of(statuses[place], MPI_BYTE), size_of(i), "size");
      expect_message(std::span(in[place]).first(static_cast<std::size_t>(size_of(i))), mix(left(), tag(i)), "content");
    }
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
  });
}

// The messages of a thread share a tag. They arrive in order, or, where overtaking is allowed, each of them once.
void same_tag(const Hints& hints, MPI_Comm comm) {
  constexpr int bytes = 200;
  ReceivedOnce received_once(threads, messages);
  in_threads(threads, [&](int t) {
    std::deque<std::vector<unsigned char>> out;
    std::vector<MPI_Request> sends;
    for (int i = 0; i < messages; ++i) {
      out.push_back(stamped({rank(), t, i}, bytes));
      MPI_Isend(out.back().data(), bytes, MPI_BYTE, right(), t, comm, &sends.emplace_back());
    }
    for (int i = 0; i < messages; ++i) {
      std::vector<unsigned char> in(bytes);
      MPI_Status status;
      if (i % 4 == 3) {
        MPI_Message found;
        MPI_Mprobe(left(), t, comm, &found, &status);
        MPI_Mrecv(in.data(), bytes, MPI_BYTE, &found, &status);
      } else {
        MPI_Recv(in.data(), bytes, MPI_BYTE, left(), t, comm, &status);
      }
      const Stamp stamp = read_stamped(in, status);
      equal(stamp.thread, t, "the thread's own tag");
      if (!hints.allow_overtaking) equal(stamp.number, i, "in order");
      received_once.got(stamp);
    }
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
  });
  equal(received_once.total(), threads * messages, "messages that arrived");
}

// Wildcards where the program did not promise to have none.
void wildcards(const Hints& hints, MPI_Comm comm) {
  constexpr int bytes = 64;
  ReceivedOnce received_once(threads, messages);
  in_threads(threads, [&](int t) {
    for (int i = 0; i < messages; ++i) {
      const std::vector<unsigned char> out = stamped({rank(), t, i}, bytes);
      std::vector<unsigned char> in(bytes);
      MPI_Request request;
      MPI_Isend(out.data(), bytes, MPI_BYTE, right(), 9, comm, &request);
      MPI_Status status;
      MPI_Recv(in.data(), bytes, MPI_BYTE, hints.no_any_source ? left() : MPI_ANY_SOURCE,
               hints.no_any_tag ? 9 : MPI_ANY_TAG, comm, &status);
      received_once.got(read_stamped(in, status));
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  equal(received_once.total(), threads * messages, "messages that arrived");
}

// Only one member promises: the others may receive any message from any source.
void lone_promise() {
  MPI_Info info;
  MPI_Info_create(&info);
  if (rank() == 0) {
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
  }
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Info_free(&info);
  wildcards(Hints(rank() == 0 ? 3 : 0), comm);
  MPI_Comm_free(&comm);
}

// Where all have promised, a wildcard either still works or is an error that says so; it never waits in vain. The promise
// can be taken back only in the first case.
void broken_promise() {
  const Hints hints(1);
  MPI_Comm comm = hints.make_comm();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int flag;
  const int error = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  check(error_class == MPI_SUCCESS || error_class == MPI_ERR_TAG, "a wildcard against a promise");

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  MPI_Comm_get_info(comm, &info);
  char value[16] = "";
  int length = sizeof value;
  MPI_Info_get_string(info, "mpi_assert_no_any_tag", &length, value, &flag);
  MPI_Info_free(&info);
  check(std::string(value) == (error == MPI_SUCCESS ? "false" : "true"), "the promise can't be taken back");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  lone_promise();
  broken_promise();
  for (unsigned bits = 0; bits < 16; ++bits) {
    const Hints hints(bits);
    MPI_Comm comm = hints.make_comm();
    tag_names_message(hints, comm);
    MPI_Barrier(comm);  // both use the same tags, and messages may overtake
    same_tag(hints, comm);
    MPI_Barrier(comm);
    wildcards(hints, comm);
    // Hints may also come to a communicator that is in use, when none of its messages is under way.
    MPI_Barrier(comm);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", hints.no_any_tag ? "false" : "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    tag_names_message(hints, comm);
    MPI_Comm_free(&comm);
  }
}
