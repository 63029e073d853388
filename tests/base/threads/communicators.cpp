// Communicators that threads make at the same time, by every means, use at once and free while others go on; and
// freeing one while messages and receives on it are under way.
#include <string>

#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(5);
constexpr int rounds = 10;

// Only members of the same communicator talk to each other: a ring message and a sum tell.
void use(MPI_Comm comm, int salt) {
  int me, n;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  const int next = (me + 1) % n, before = (me + n - 1) % n;
  int out = salt * 100 + me, in = -1, sum = -1;
  MPI_Status status;
  MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  equal(in, salt * 100 + before, "a message stays in its communicator");
  equal(status.MPI_SOURCE, before, "source");
  MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
  equal(sum, salt * 100 * n + n * (n - 1) / 2, "allreduce on a new communicator");
}

// One new communicator from the thread's own, and once in a while from the world, which all threads share.
MPI_Comm make(int how, int t, MPI_Comm own, MPI_Group all) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  switch (how) {
    case 0:
      MPI_Comm_dup(own, &made);
      break;
    case 1:
      MPI_Comm_split(own, rank() % 2, -rank(), &made);
      break;
    case 2:
      MPI_Comm_create(own, all, &made);
      break;
    case 3:
      MPI_Comm_idup(own, &made, &request);
      for (int flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      break;
    case 4: {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");  // on however many nodes they are
      MPI_Comm_split_type(own, MPI_COMM_TYPE_RESOURCE_GUIDED, rank(), info, &made);
      MPI_Info_free(&info);
      break;
    }
    case 5:
      MPI_Comm_create_group(MPI_COMM_WORLD, all, 100 + t, &made);
      break;
    case 6:
      MPI_Comm_create_from_group(all, ("thread " + std::to_string(t)).c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                 &made);
      break;
    default: {
      MPI_Group mine;
      const int me = rank();
      MPI_Group_incl(all, 1, &me, &mine);
      MPI_Comm_create_group(own, mine, t, &made);
      MPI_Group_free(&mine);
    }
  }
  return made;
}

void by_every_means(const std::vector<MPI_Comm>& own, MPI_Group all) {
  constexpr int means = 8;
  in_threads(threads, [&](int t) {
    std::vector<MPI_Comm> kept;
    for (int round = 0; round < rounds; ++round) {
      for (int how = 0; how < means; ++how) {
        MPI_Comm made = make((how + t) % means, t, own[static_cast<std::size_t>(t)], all);
        use(made, t + 1);
        kept.push_back(made);
      }
      while (kept.size() > 3) {  // some live longer than the one after them
        const std::size_t victim = kept.size() % 3;
        MPI_Comm_free(&kept[victim]);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(victim));
      }
    }
    for (MPI_Comm& comm : kept) {
      use(comm, t + 1);
      MPI_Comm_free(&comm);
    }
  });
}

// Threads make communicators while others send on the parent; both go on undisturbed.
void beside_messages(MPI_Comm parent) {
  in_threads(threads, [&](int t) {
    if (t == 0) {
      for (int i = 0; i < rounds; ++i) {
        MPI_Comm dup, half;
        MPI_Comm_dup(parent, &dup);
        MPI_Comm_split(parent, rank() % 2, 0, &half);
        use(dup, i);
        use(half, i);
        MPI_Comm_free(&half);
        MPI_Comm_free(&dup);
      }
      return;
    }
    for (int i = 0; i < 4 * rounds; ++i) {
      const int bytes = i % 5 == 4 ? 150000 : 50;
      const std::vector<unsigned char> out = message(mix(rank(), t, i), bytes);
      std::vector<unsigned char> in(out.size());
      MPI_Sendrecv(out.data(), bytes, MPI_BYTE, right(), t, in.data(), bytes, MPI_BYTE, MPI_ANY_SOURCE, t, parent,
                   MPI_STATUS_IGNORE);
      expect_message(in, mix(left(), t, i), "a message on the parent");
    }
  });
}

// A communicator is freed with its messages under way: they arrive all the same.
void freed_under_way(const std::vector<MPI_Comm>& own) {
  in_threads(threads, [&](int t) {
    for (int round = 0; round < rounds; ++round) {
      MPI_Comm comm;
      MPI_Comm_dup(own[static_cast<std::size_t>(t)], &comm);
      const int bytes = round % 2 == 0 ? 150000 : 40;
      const std::vector<unsigned char> out = message(mix(rank(), t, round), bytes);
      std::vector<unsigned char> in(out.size());
      MPI_Request requests[2];
      MPI_Irecv(in.data(), bytes, MPI_BYTE, left(), 1, comm, &requests[0]);
      MPI_Isend(out.data(), bytes, MPI_BYTE, right(), 1, comm, &requests[1]);
      MPI_Comm_free(&comm);
      check(comm == MPI_COMM_NULL, "a freed handle is null");
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      expect_message(in, mix(left(), t, round), "a message on a freed communicator");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  std::vector<MPI_Comm> own(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : own) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  by_every_means(own, all);
  beside_messages(own[0]);
  freed_under_way(own);
  for (MPI_Comm& comm : own) MPI_Comm_free(&comm);
  MPI_Group_free(&all);
}
