// Communicators with safety models of their own (info key heddle_model), beside those of the rank's model and of each other: many
// threads use all of them, and wait for requests of several at once.
#include <array>
#include <chrono>
#include <deque>
#include <string>

#include "base/threads/received_once.hpp"

namespace {

using namespace test;

const int threads = team_size(5);
constexpr int messages = 20;

// As many as a job may ask for.
const std::array<std::string, 7> models{"lockq-mcs",
                                        "csync,vnis=2",
                                        "mtx",
                                        "auto",
                                        "fine",
                                        "vnis=3,lock=hmcs3,submit=lockq",
                                        "vnis=2,lock=tas,submit=inject"};

class Asking {
 public:
  explicit Asking(const std::string& model) {
    MPI_Info_create(&info);
    set("heddle_model", model);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { MPI_Info_free(&info); }
  void set(const char* key, const std::string& value) { MPI_Info_set(info, key, value.c_str()); }

  MPI_Info info;
};

std::string model_in(MPI_Info info) {
  char value[MPI_MAX_INFO_VAL] = "";
  int length = sizeof value, flag;
  MPI_Info_get_string(info, "heddle_model", &length, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "";
}
std::string model_of(MPI_Comm comm) {
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  return model_in(info);
}

// One of the calls that take an info argument.
MPI_Comm make(std::size_t how, const std::string& model) {
  const Asking asking(model);
  MPI_Comm made;
  switch (how % 4) {
    case 0:
      MPI_Comm_dup_with_info(MPI_COMM_WORLD, asking.info, &made);
      break;
    case 1: {
      MPI_Request request;
      MPI_Comm_idup_with_info(MPI_COMM_WORLD, asking.info, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
    case 2:
      MPI_Info_set(asking.info, "mpi_pset_name", "mpi://WORLD");  // on however many nodes they are
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, rank(), asking.info, &made);
      break;
    default: {
      MPI_Group group;
      MPI_Comm_group(MPI_COMM_WORLD, &group);
      MPI_Comm_create_from_group(group, model.c_str(), asking.info, MPI_ERRORS_ARE_FATAL, &made);
      MPI_Group_free(&group);
    }
  }
  check(model_of(made) == model, "the model of a communicator is among its hints");
  return made;
}

int size_of(int number) {
  constexpr int mixed[] = {16, 1000, 12, 30000, 104, 140000};
  return mixed[number % 6];
}

// All threads on every communicator. Each has a tag of its own: they walk in different orders, and would wait for each other in a
// circle if one could take the message of another.
void messages_of_threads(const std::vector<MPI_Comm>& comms) {
  std::deque<ReceivedOnce> received;
  for (std::size_t c = 0; c < comms.size(); ++c) received.emplace_back(threads, messages);
  in_threads(threads, [&](int t) {
    for (int i = 0; i < messages; ++i) {
      // Every thread walks through the communicators from a place of its own.
      const std::size_t c = static_cast<std::size_t>(t + i) % comms.size();
      const std::vector<unsigned char> out = stamped({rank(), t, i}, size_of(i));
      MPI_Request request;
      MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, right(), t, comms[c], &request);
      MPI_Message found;
      MPI_Status status;
      MPI_Mprobe(MPI_ANY_SOURCE, t, comms[c], &found, &status);
      std::vector<unsigned char> in(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
      MPI_Mrecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, &found, &status);
      received[c].got(read_stamped(in, status));
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  long total = 0;
  for (const ReceivedOnce& received_once : received) total += received_once.total();
  equal(total, threads * messages, "messages that arrived");
}

// Requests of all communicators in one wait, for all and for any.
void waits_across(const std::vector<MPI_Comm>& comms) {
  in_threads(threads, [&](int t) {
    for (int round = 0; round < 4; ++round) {
      const bool any = round % 2 == 1;
      std::deque<std::vector<unsigned char>> out, in;
      std::vector<MPI_Request> receives, sends;
      const auto key = [&](int from, std::size_t c) { return mix(from, t, c, round); };
      for (std::size_t c = 0; c < comms.size(); ++c) {
        in.emplace_back(static_cast<std::size_t>(size_of(static_cast<int>(c))));
        MPI_Irecv(in.back().data(), static_cast<int>(in.back().size()), MPI_BYTE, left(), t, comms[c],
                  &receives.emplace_back());
      }
      for (std::size_t c = comms.size(); c-- > 0;) {
        out.push_back(message(key(rank(), c), size_of(static_cast<int>(c))));
        MPI_Isend(out.back().data(), static_cast<int>(out.back().size()), MPI_BYTE, right(), t, comms[c],
                  &sends.emplace_back());
      }
      const int n = static_cast<int>(comms.size());
      if (any) {
        for (int left_over = n; left_over > 0; --left_over) {
          int index;
          MPI_Waitany(n, receives.data(), &index, MPI_STATUS_IGNORE);
          check(index != MPI_UNDEFINED, "one of them was left");
        }
      } else {
        MPI_Waitall(n, receives.data(), MPI_STATUSES_IGNORE);
      }
      for (std::size_t c = 0; c < comms.size(); ++c) expect_message(in[c], key(left(), c), "content");
      MPI_Waitall(n, sends.data(), MPI_STATUSES_IGNORE);
    }
  });
}

// A thread blocked on one communicator, while nothing happens for long, and threads that only test another.
void late_message(const std::vector<MPI_Comm>& comms) {
  in_threads(static_cast<int>(comms.size()), [&](int t) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    int in = -1;
    const int out = 100 * rank() + t;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, left(), 3, comm, &request);
    sleep(std::chrono::milliseconds(2 * t + 5));
    MPI_Send(&out, 1, MPI_INT, right(), 3, comm);
    if (t % 2 == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      for (int flag = 0; !flag;) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        if (!flag) yield();
      }
    }
    equal(in, 100 * left() + t, "a late message");
  });
}

void collectives(const std::vector<MPI_Comm>& comms) {
  in_threads(static_cast<int>(comms.size()), [&](int t) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    for (int round = 0; round < 5; ++round) {
      const int mine = rank() + t + round;
      int sum = -1, now = -1;
      MPI_Request request;
      MPI_Iallreduce(&mine, &now, 1, MPI_INT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
      equal(sum, size() * (size() - 1) / 2 + size() * (t + round), "allreduce");
      equal(now, sum, "iallreduce");
      MPI_Barrier(comm);
    }
  });
}

// A promise spreads the messages of a communicator over the VNIs that its model has.
void spread(const std::string& model) {
  Asking asking(model);
  asking.set("mpi_assert_no_any_tag", "true");
  MPI_Comm comm;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, asking.info, &comm);
  in_threads(threads, [&](int t) {
    const auto value = [t](int from, int i) { return (from * messages + i) * threads + t; };
    for (int i = 0; i < messages; ++i) {
      int out = value(rank(), i), in = -1;
      MPI_Sendrecv(&out, 1, MPI_INT, right(), t, &in, 1, MPI_INT, left(), t, comm, MPI_STATUS_IGNORE);
      equal(in, value(left(), i), "by tag");
    }
  });
  MPI_Comm_free(&comm);
}

// Communicators that come from a session have its model, those made from them too.
void from_session(const std::string& model) {
  const Asking asking(model);
  MPI_Session session;
  MPI_Session_init(asking.info, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info told;
  MPI_Session_get_info(session, &told);
  check(model_in(told) == model, "the model of a session is among its hints");
  MPI_Group world;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  std::vector<MPI_Comm> comms(4);
  MPI_Comm_create_from_group(world, "models", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[0]);
  MPI_Comm_dup(comms[0], &comms[1]);
  MPI_Comm_split(comms[0], 0, rank(), &comms[2]);
  MPI_Comm_create_group(comms[0], world, 4, &comms[3]);
  MPI_Group_free(&world);
  messages_of_threads(comms);
  waits_across(comms);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

// Between the even and the odd ranks.
void between_groups(const std::string& model) {
  if (size() < 2) return;
  const Asking asking(model);
  MPI_Group world, evens, odds;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{0, size() - 1, 2}};
  MPI_Group_range_incl(world, 1, range, &evens);
  MPI_Group_difference(world, evens, &odds);
  const bool even = rank() % 2 == 0;
  MPI_Comm inter, merged;
  MPI_Intercomm_create_from_groups(even ? evens : odds, 0, even ? odds : evens, 0, "models", asking.info,
                                   MPI_ERRORS_ARE_FATAL, &inter);
  check(model_of(inter) == model, "the model of an intercommunicator is among its hints");
  const int mine = 1;
  int others = 0, all = 0, remote;
  MPI_Comm_remote_size(inter, &remote);
  MPI_Allreduce(&mine, &others, 1, MPI_INT, MPI_SUM, inter);
  equal(others, remote, "members of the other group");
  MPI_Intercomm_merge(inter, even ? 0 : 1, &merged);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, merged);
  equal(all, size(), "members of both");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Group_free(&odds);
  MPI_Group_free(&evens);
  MPI_Group_free(&world);
}

// Nonsense, what only a whole rank can have, and one model too many: an error on every member, and no object remains.
void refused() {
  MPI_Comm parent;
  MPI_Comm_dup(MPI_COMM_SELF, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  for (const char* model :
       {"warp", "offload", "single", "lock=mcs,submit=warp", "auto,wait=usc", "vnis=65", "vnis=64", "clh,vnis=2"}) {
    const Asking asking(model);
    MPI_Comm made;
    equal(class_of(MPI_Comm_dup_with_info(parent, asking.info, &made)), MPI_ERR_INFO_VALUE, model);
    MPI_Session session;
    equal(class_of(MPI_Session_init(asking.info, MPI_ERRORS_RETURN, &session)), MPI_ERR_INFO_VALUE, model);
  }
  MPI_Comm_free(&parent);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  std::vector<MPI_Comm> comms{MPI_COMM_WORLD};
  for (std::size_t i = 0; i < models.size(); ++i) comms.push_back(make(i, models[i]));
  MPI_Comm_dup(comms[1], &comms.emplace_back());
  check(model_of(comms.back()).empty(), "a duplicate has none of the hints");
  messages_of_threads(comms);
  waits_across(comms);
  late_message(comms);
  collectives(comms);
  for (std::size_t i = 0; i < models.size(); ++i) {
    spread(models[i]);
    from_session(models[i]);
    between_groups(models[i]);
  }
  refused();

  // A communicator keeps the model that it was made with.
  const Asking asking(models[2]);
  MPI_Comm_set_info(comms[1], asking.info);
  check(model_of(comms[1]) == models[0], "the model of a communicator stays");
  messages_of_threads(comms);
  for (std::size_t i = 1; i < comms.size(); ++i) MPI_Comm_free(&comms[i]);
}
