#include "base/threads/random/player.hpp"

#include <algorithm>

namespace random_program {

using test::Random;

World::World() {
  const bool backwards[Plan::comms] = {false, true, false, true};
  for (bool reversed : backwards) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, reversed ? -test::rank() : test::rank(), &comm);
    comms.push_back({comm, reversed});
  }
  teams.resize(static_cast<std::size_t>(test::team_size(Plan::usual_threads)));
  for (MPI_Comm& team : teams) MPI_Comm_dup(MPI_COMM_WORLD, &team);
  MPI_Comm_dup(MPI_COMM_WORLD, &pool);
}

World::~World() {
  MPI_Comm_free(&pool);
  for (MPI_Comm& team : teams) MPI_Comm_free(&team);
  for (Comm& comm : comms) MPI_Comm_free(&comm.comm);
}

void Player::play() {
  constexpr std::size_t most_pending = 24;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (!step.names(me_)) continue;
    where.step = static_cast<int>(i);
    switch (step.kind) {
      case Step::message:
        message(step);
        break;
      case Step::exchange:
        exchange(step);
        break;
      case Step::burst:
        burst(step);
        break;
      case Step::collective:
        collective(step);
        break;
      case Step::pool:
        send(step.messages[0], world_.pool, step.to.rank, pool_pending_);
        break;
      case Step::kinds:
        break;
    }
    if (random_.one_in(4) || pending_.size() > most_pending) pending_.complete(random_, random_.one_in(2));
  }
  where.step = -1;
  take_from_pool();
  pending_.complete(random_, true);
  pool_pending_.complete(random_, true);
}

void Player::message(const Step& step) {
  const Message& m = step.messages[0];
  const World::Comm& comm = world_.comms[static_cast<std::size_t>(m.comm)];
  const int to = comm.rank_of(step.to.rank);
  if (step.from == step.to && !blocks(m.recv)) {
    receive(m, step.from);
    send(m, comm.comm, to, pending_);
    return;
  }
  if (step.from == me_) send(m, comm.comm, to, pending_);
  if (step.to == me_) receive(m, step.from);
}

void Player::exchange(const Step& step) {
  const bool first = step.from == me_;
  const Message& mine = first ? step.messages.front() : step.messages.back();
  const Message& theirs = first ? step.messages.back() : step.messages.front();
  const World::Comm& comm = world_.comms[static_cast<std::size_t>(mine.comm)];
  const int peer = comm.rank_of(first ? step.to.rank : step.from.rank);
  const Box out = sent(mine), in = box_for(theirs);
  const int source = theirs.any_source ? MPI_ANY_SOURCE : peer, tag = theirs.any_tag ? MPI_ANY_TAG : theirs.tag;
  if (step.nonblocking) {
    MPI_Request request;
    MPI_Isendrecv(out->data(), out->count(), out->type(), peer, mine.tag, in->data(), in->count(), in->type(), source,
                  tag, comm.comm, &request);
    pending_.add(request, false, [this, out, in, theirs, peer](const MPI_Status& status) {
      check_received(*in, theirs, peer, status);
    });
  } else {
    MPI_Status status;
    MPI_Sendrecv(out->data(), out->count(), out->type(), peer, mine.tag, in->data(), in->count(), in->type(), source,
                 tag, comm.comm, &status);
    check_received(*in, theirs, peer, status);
  }
}

void Player::burst(const Step& step) {
  const World::Comm& comm = world_.comms[static_cast<std::size_t>(step.messages[0].comm)];
  const bool receives_first = random_.one_in(2);
  const auto post = [&] {
    if (step.to != me_) return;
    for (int m : step.order) receive(step.messages[static_cast<std::size_t>(m)], step.from);
  };
  if (receives_first) post();
  if (step.from == me_) {
    for (const Message& m : step.messages) send(m, comm.comm, comm.rank_of(step.to.rank), pending_);
  }
  if (!receives_first) post();
}

void Player::collective(const Step& step) {
  struct Data {
    std::vector<int> in, out;
  };
  Random random(step.seed);  // the same in all ranks
  const int n = random.one_in(5) ? 1 + random.below(10000) : 1 + random.below(40);
  const int root = random.below(test::size());
  const int salt = random.below(1000);
  const auto data = std::make_shared<Data>();
  data->in.assign(static_cast<std::size_t>(n), test::rank() + salt);
  data->out.assign(static_cast<std::size_t>(n * (step.what == Collective::allgather ? test::size() : 1)), -1);
  int* const in = data->in.data();
  int* const out = data->out.data();
  MPI_Comm comm = world_.teams[static_cast<std::size_t>(me_.thread)];
  MPI_Request request = MPI_REQUEST_NULL;
  const auto verify = [data, what = step.what, n, root, salt](const MPI_Status&) {
    const int ranks = test::size();
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (what == Collective::bcast) expect_equal(data->in[at], root + salt, "broadcast");
      if (what == Collective::allreduce)
        expect_equal(data->out[at], ranks * (ranks - 1) / 2 + ranks * salt, "sum of all ranks");
      for (int r = 0; r < ranks && what == Collective::allgather; ++r)
        expect_equal(data->out[static_cast<std::size_t>(r * n + i)], r + salt, "gathered");
    }
  };
  switch (step.what) {
    case Collective::barrier:
      step.nonblocking ? MPI_Ibarrier(comm, &request) : MPI_Barrier(comm);
      break;
    case Collective::bcast:
      step.nonblocking ? MPI_Ibcast(in, n, MPI_INT, root, comm, &request) : MPI_Bcast(in, n, MPI_INT, root, comm);
      break;
    case Collective::allreduce:
      step.nonblocking ? MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &request)
                       : MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
      break;
    case Collective::allgather:
      step.nonblocking ? MPI_Iallgather(in, n, MPI_INT, out, n, MPI_INT, comm, &request)
                       : MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
      break;
    case Collective::last:
      break;
  }
  if (step.nonblocking)
    pending_.add(request, false, verify);
  else
    verify({});
}

// Messages of any source, in any order: each is one that was sent to this rank, and comes once.
void Player::take_from_pool() {
  const int mine = plan_.pool_receives[static_cast<std::size_t>(me_.rank)][static_cast<std::size_t>(me_.thread)];
  for (int i = 0; i < mine; ++i) {
    Buffer in(Plan::largest_of_pool);
    MPI_Status status;
    MPI_Message found = MPI_MESSAGE_NULL;
    switch (random_.below(3)) {
      case 0:
        MPI_Recv(in.data(), in.count(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, world_.pool, &status);
        break;
      case 1:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_.pool, &found, MPI_STATUS_IGNORE);
        break;
      default:
        for (int flag = 0; !flag;)
          MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_.pool, &flag, &found, MPI_STATUS_IGNORE);
    }
    if (found != MPI_MESSAGE_NULL) MPI_Mrecv(in.data(), in.count(), MPI_BYTE, &found, &status);
    expect(status.MPI_TAG >= 0 && static_cast<std::size_t>(status.MPI_TAG) < plan_.steps.size(), "tag of the pool");
    const Step& step = plan_.steps[static_cast<std::size_t>(status.MPI_TAG)];
    expect(step.kind == Step::pool && step.to.rank == me_.rank, "a message of the pool comes to whom it was sent");
    expect_equal(taken_[static_cast<std::size_t>(status.MPI_TAG)].fetch_add(1), 0, "messages with this tag before");
    check_received(in, step.messages[0], step.from.rank, status);
  }
}

Player::Box Player::box_for(const Message& m) {
  return random_.one_in(3) ? std::make_shared<Buffer>(m.bytes + random_.below(100))
                           : std::make_shared<Buffer>(m.bytes, random_);
}

Player::Box Player::sent(const Message& m) {
  auto box = std::make_shared<Buffer>(m.bytes, random_);
  box->fill(m.key, m.bytes);
  return box;
}

void Player::send(const Message& m, MPI_Comm comm, int to, Pending& pending) {
  const Box box = sent(m);
  const auto call = [&](auto f, auto... request) {
    f(box->data(), box->count(), box->type(), to, m.tag, comm, request...);
  };
  MPI_Request request = MPI_REQUEST_NULL;
  switch (m.send) {
    case Send::send:
      return call(MPI_Send);
    case Send::ssend:
      return call(MPI_Ssend);
    case Send::bsend:
      return call(MPI_Bsend);
    case Send::isend:
      call(MPI_Isend, &request);
      break;
    case Send::issend:
      call(MPI_Issend, &request);
      break;
    case Send::ibsend:
      call(MPI_Ibsend, &request);
      break;
    case Send::send_init:
      call(MPI_Send_init, &request);
      break;
    case Send::ssend_init:
      call(MPI_Ssend_init, &request);
      break;
    case Send::bsend_init:
      call(MPI_Bsend_init, &request);
      break;
    case Send::last:
      return;
  }
  const bool persistent = m.send >= Send::send_init;
  if (persistent) MPI_Start(&request);
  pending.add(request, persistent, [box, m](const MPI_Status&) { box->expect(m.key, m.bytes); });
}

void Player::receive(const Message& m, const Actor& from) {
  const World::Comm& c = world_.comms[static_cast<std::size_t>(m.comm)];
  MPI_Comm comm = c.comm;
  const int from_rank = c.rank_of(from.rank);
  const int source = m.any_source ? MPI_ANY_SOURCE : from_rank, tag = m.any_tag ? MPI_ANY_TAG : m.tag;
  const Box box = box_for(m);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status, probed;
  int flag = 0;
  switch (m.recv) {
    case Recv::iprobe:
    case Recv::probe:
      if (m.recv == Recv::probe) MPI_Probe(source, tag, comm, &probed);
      while (m.recv == Recv::iprobe && !flag) MPI_Iprobe(source, tag, comm, &flag, &probed);
      expect_equal(probed.MPI_SOURCE, from_rank, "source that a probe sees");
      expect_equal(probed.MPI_TAG, m.tag, "tag that a probe sees");
      expect_equal(test::count_of(probed, MPI_BYTE), m.bytes, "size that a probe sees");
      [[fallthrough]];
    case Recv::recv:
      MPI_Recv(box->data(), box->count(), box->type(), source, tag, comm, &status);
      break;
    case Recv::mprobe:
      MPI_Mprobe(source, tag, comm, &found, &status);
      MPI_Mrecv(box->data(), box->count(), box->type(), &found, &status);
      break;
    case Recv::improbe:
      while (!flag) MPI_Improbe(source, tag, comm, &flag, &found, &status);
      MPI_Mrecv(box->data(), box->count(), box->type(), &found, &status);
      break;
    case Recv::imrecv:
      MPI_Mprobe(source, tag, comm, &found, &status);
      MPI_Imrecv(box->data(), box->count(), box->type(), &found, &request);
      break;
    case Recv::irecv:
      MPI_Irecv(box->data(), box->count(), box->type(), source, tag, comm, &request);
      break;
    case Recv::recv_init:
      MPI_Recv_init(box->data(), box->count(), box->type(), source, tag, comm, &request);
      MPI_Start(&request);
      break;
    case Recv::last:
      return;
  }
  if (request == MPI_REQUEST_NULL) {
    check_received(*box, m, from_rank, status);
  } else {
    pending_.add(request, m.recv == Recv::recv_init, [this, box, m, from_rank](const MPI_Status& completed) {
      check_received(*box, m, from_rank, completed);
    });
  }
}

void Player::check_received(const Buffer& buffer, const Message& m, int source, const MPI_Status& status) const {
  int bytes;
  MPI_Get_elements(&status, buffer.type(), &bytes);
  expect_equal(status.MPI_SOURCE, source, "source");
  expect_equal(status.MPI_TAG, m.tag, "tag");
  expect_equal(bytes, m.bytes, "size");
  buffer.expect(m.key, m.bytes);
}

}  // namespace random_program
