// Messages do not overtake: what one thread sends to a rank on a communicator is received in that order, whatever the
// other threads do, whatever the sizes, and whether receives name their message or take any.
#include <algorithm>
#include <deque>
#include <mutex>

#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(6);

// Sizes on both sides of the border between eager and rendezvous follow each other, so that a short message has every
// chance to overtake a long one.
int size_of(int i) {
  constexpr int mixed[] = {100000, 8, 40, 20000, 0, 1000, 262144, 16};
  return mixed[i % 8];
}

struct Sent {
  int tag;
  int bytes;
  std::uint64_t key;
};

std::vector<MPI_Request> start_sends(const std::vector<Sent>& sent, std::deque<std::vector<unsigned char>>& data,
                                     int to, MPI_Comm comm) {
  std::vector<MPI_Request> requests;
  for (const Sent& s : sent) {
    data.push_back(message(s.key, s.bytes));
    MPI_Isend(data.back().data(), s.bytes, MPI_BYTE, to, s.tag, comm, &requests.emplace_back());
  }
  return requests;
}

// Thread t of a rank to thread t of the next, all on one communicator and told apart by their tags, or each on a
// communicator of its own with the same tag. All messages of a thread have one tag, so nothing but their order tells
// which is which.
void same_tag(const std::vector<MPI_Comm>& comms, bool wildcards) {
  constexpr int messages = 40;
  const bool own = comms.size() > 1;
  in_threads(threads, [&](int t) {
    const MPI_Comm comm = comms[own ? static_cast<std::size_t>(t) : 0];
    const int tag = own ? 7 : 7 + t;
    std::vector<Sent> sent;
    for (int i = 0; i < messages; ++i) sent.push_back({tag, size_of(i), mix(rank(), t, i)});
    std::deque<std::vector<unsigned char>> data;
    std::vector<MPI_Request> requests = start_sends(sent, data, right(), comm);
    for (int i = 0; i < messages; ++i) {
      std::vector<unsigned char> in(262144);
      const bool any = wildcards && i % 2 == 0;
      MPI_Status status;
      MPI_Recv(in.data(), 262144, MPI_BYTE, any ? MPI_ANY_SOURCE : left(), any && own ? MPI_ANY_TAG : tag, comm,
               &status);
      equal(status.MPI_SOURCE, left(), "source");
      equal(status.MPI_TAG, tag, "tag");
      equal(count_of(status, MPI_BYTE), size_of(i), "size of the next message in order");
      in.resize(static_cast<std::size_t>(size_of(i)));
      expect_message(in, mix(left(), t, i), "content of the next message in order");
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  });
  MPI_Barrier(MPI_COMM_WORLD);
}

// Which message each receive gets: a message goes to the first receive that matches and is still free. Since sender
// and receiver are one thread each, that does not depend on which comes first.
std::vector<int> matches(const std::vector<int>& tags, const std::vector<int>& receives) {
  std::vector<int> message_of(receives.size(), -1);
  for (std::size_t m = 0; m < tags.size(); ++m) {
    for (std::size_t r = 0; r < receives.size(); ++r) {
      if (message_of[r] >= 0 || (receives[r] != MPI_ANY_TAG && receives[r] != tags[m])) continue;
      message_of[r] = static_cast<int>(m);
      break;
    }
  }
  return message_of;
}

// Receives in another order than the messages, some by tag and some for any: the standard still leaves one answer.
void mixed_receives(const std::vector<MPI_Comm>& comms, unsigned seed) {
  constexpr int messages = 24;
  in_threads(threads, [&](int t) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    for (int round = 0; round < 6; ++round) {
      const auto tags_of_sender = [&](int sender) {
        Random random(seed, round, t, sender);
        std::vector<int> tags;
        for (int i = 0; i < messages; ++i) tags.push_back(random.below(4));
        return tags;
      };
      const auto key = [&](int sender, int i) { return mix(sender, t, round, i); };
      const std::vector<int> mine = tags_of_sender(rank()), tags = tags_of_sender(left());
      std::vector<Sent> sent;
      for (int i = 0; i < messages; ++i)
        sent.push_back({mine[static_cast<std::size_t>(i)], size_of(i), key(rank(), i)});

      // A receive for each message, shuffled; those that would get nothing take any instead.
      Random random(seed, round, t, rank(), 1);
      std::vector<int> receives = tags;
      for (int& tag : receives) tag = random.one_in(3) ? MPI_ANY_TAG : tag;
      for (int i = messages - 1; i > 0; --i)
        std::swap(receives[static_cast<std::size_t>(i)], receives[static_cast<std::size_t>(random.below(i + 1))]);
      std::vector<int> expected = matches(tags, receives);
      while (std::ranges::count(expected, -1) > 0) {
        receives[static_cast<std::size_t>(std::ranges::find(expected, -1) - expected.begin())] = MPI_ANY_TAG;
        expected = matches(tags, receives);
      }

      std::deque<std::vector<unsigned char>> out, in;
      std::vector<MPI_Request> requests;
      const auto receive = [&] {
        for (int tag : receives) {
          in.emplace_back(262144);
          MPI_Irecv(in.back().data(), 262144, MPI_BYTE, random.one_in(2) ? MPI_ANY_SOURCE : left(), tag, comm,
                    &requests.emplace_back());
        }
      };
      std::vector<MPI_Request> sends;
      if (round % 2 == 0) receive();
      sends = start_sends(sent, out, right(), comm);
      if (round % 2 == 1) receive();
      std::vector<MPI_Status> statuses(requests.size());
      MPI_Waitall(messages, requests.data(), statuses.data());
      for (std::size_t r = 0; r < requests.size(); ++r) {
        const int m = expected[r];
        equal(statuses[r].MPI_TAG, tags[static_cast<std::size_t>(m)], "tag of the message that matches");
        equal(count_of(statuses[r], MPI_BYTE), size_of(m), "size of the message that matches");
        expect_message(std::span(in[r]).first(static_cast<std::size_t>(size_of(m))), key(left(), m),
                       "content of the message that matches");
      }
      MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
    }
  });
}

// Threads take whatever comes on one communicator. Which thread gets which message is open, but the messages that one
// thread gets from one sending thread are in that thread's order.
void many_to_many(MPI_Comm comm) {
  constexpr int messages = 60;
  in_threads(threads, [&](int t) {
    struct Stamp {
      int rank, thread, number;
    };
    std::deque<Stamp> out;
    std::vector<MPI_Request> sends;
    std::vector<int> last(static_cast<std::size_t>(size() * threads), -1);
    for (int i = 0; i < messages; ++i) {
      out.push_back({rank(), t, i});
      MPI_Isend(&out.back(), 3, MPI_INT, (rank() + i) % size(), i % 5, comm, &sends.emplace_back());
      Stamp in;
      MPI_Status status;
      MPI_Recv(&in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      equal(status.MPI_SOURCE, in.rank, "source");
      equal(status.MPI_TAG, in.number % 5, "tag");
      const int sender = in.rank * threads + in.thread;
      int& before = last[static_cast<std::size_t>(sender)];
      check(before < in.number, "messages of one thread are received in its order");
      before = in.number;
    }
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
  });
  MPI_Barrier(MPI_COMM_WORLD);
}

// Threads that synchronize have an order: each sends when another one has sent the message before, and one receives all.
void in_turns(bool wildcards) {
  constexpr int messages = 160;
  const int senders = threads - 1;
  Mutex mutex;
  Condition turned;
  int turn = 0;
  in_threads(threads, [&](int t) {
    if (t == senders) {
      for (int i = 0; i < messages; ++i) {
        std::vector<unsigned char> in(262144);
        const bool any = wildcards && i % 2 == 0;
        MPI_Status status;
        MPI_Recv(in.data(), 262144, MPI_BYTE, any ? MPI_ANY_SOURCE : left(), 3, MPI_COMM_WORLD, &status);
        equal(count_of(status, MPI_BYTE), size_of(i), "size of the next message in order of turns");
        in.resize(static_cast<std::size_t>(size_of(i)));
        expect_message(in, mix(left(), i), "content of the next message in order of turns");
      }
      return;
    }
    std::deque<std::vector<unsigned char>> data;
    std::vector<MPI_Request> requests;
    for (int i = t; i < messages; i += senders) {
      data.push_back(message(mix(rank(), i), size_of(i)));
      std::unique_lock guard(mutex);
      turned.wait(guard, [&] { return turn == i; });
      MPI_Isend(data.back().data(), size_of(i), MPI_BYTE, right(), 3, MPI_COMM_WORLD, &requests.emplace_back());
      ++turn;
      turned.notify_all();
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  });
  MPI_Barrier(MPI_COMM_WORLD);
}

// One thread sends more than a channel holds before any of it is received, and changes the tag now and then.
void ahead(MPI_Comm comm) {
  constexpr int messages = 3000, alike = 170, tags = 7;
  std::vector<int> out(messages), in(messages);
  std::vector<MPI_Request> sends;
  for (int i = 0; i < messages; ++i) {
    out[static_cast<std::size_t>(i)] = i;
    MPI_Isend(&out[static_cast<std::size_t>(i)], 1, MPI_INT, right(), i / alike % tags, comm, &sends.emplace_back());
  }
  for (int i = 0; i < messages; ++i) {
    MPI_Status status;
    MPI_Recv(&in[static_cast<std::size_t>(i)], 1, MPI_INT, left(), MPI_ANY_TAG, comm, &status);
    equal(status.MPI_TAG, i / alike % tags, "tag of the next message");
    equal(in[static_cast<std::size_t>(i)], i, "number of the next message");
  }
  MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const unsigned s = seed(argc, argv);
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (bool wildcards : {false, true}) {
    same_tag({MPI_COMM_WORLD}, wildcards);
    same_tag(comms, wildcards);
    in_turns(wildcards);
  }
  mixed_receives(comms, s);
  many_to_many(MPI_COMM_WORLD);
  ahead(MPI_COMM_WORLD);
  ahead(comms[0]);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}
