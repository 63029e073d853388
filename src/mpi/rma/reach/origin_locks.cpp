// Locks of targets by message. The target keeps the lock and queues the waiting origins (service.hpp); here is the
// requesting side.
#include <new>

#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/rma/reach/origin.hpp"

namespace heddle::rma::reach {

// Without memory for it now it is tried again, since others may wait for the lock that this releases.
void Origin::ask(Question& question, int target, Action action, LockType type) {
  constexpr int attempts = 1000;
  const Datatype& byte = *predefined_datatype(MPI_BYTE);
  const auto tag =
      first_question_tag + static_cast<int>(questions_.fetch_add(1, std::memory_order_relaxed) % question_tags);
  question = {.command = {.action = action, .lock = type, .answer_tag = static_cast<std::uint32_t>(tag)}};
  for (int i = 0; i < attempts && question.receive == nullptr; ++i) {
    try {
      question.receive = &p2p::irecv(comm_, Plane::window, &question.answer, sizeof(Answer), byte, target, tag);
      if (!p2p::send(comm_, Plane::window, &question.command, sizeof(Command), byte, target, command_tag)) return;
    } catch (const std::bad_alloc&) {
      p2p::poll_once(*comm_.owner);
    }
    if (question.receive == nullptr) continue;
    (void)p2p::cancel(*question.receive);
    p2p::give_back(*question.receive);
    question.receive = nullptr;
  }
}

Error Origin::await(Question& question) {
  if (question.receive == nullptr) return fail(MPI_ERR_NO_MEM, "no memory for a message to a member of the window");
  const Error error = p2p::wait(*question.receive);
  p2p::give_back(*question.receive);
  return error;
}

void Origin::ask_all(std::vector<Question>& questions, Action action) {
  for (int target = 0; target < comm_.size; ++target)
    ask(questions[static_cast<std::size_t>(target)], target, action, LockType::shared);
}

Error Origin::await_all(std::vector<Question>& questions) {
  Error first = success;
  for (Question& question : questions)
    if (Error e = await(question); e && !first) first = e;
  return first;
}

Error Origin::lock(int target, LockType type) {
  Question question;
  ask(question, target, Action::lock, type);
  return await(question);
}

// All or none: a process that holds some locks and waits for others could deadlock with another. Nothing is requested
// before all have seemed free, so that two processes that wait for a third do not disturb each other.
Error Origin::lock_all() {
  std::vector<Question> questions(static_cast<std::size_t>(comm_.size));
  for (;;) {
    ask_all(questions, Action::await_lock);
    if (Error e = await_all(questions)) return e;
    ask_all(questions, Action::try_lock);
    const Error failed = await_all(questions);
    std::vector<int> taken;
    for (int target = 0; target < comm_.size; ++target)
      if (questions[static_cast<std::size_t>(target)].answer.taken != 0) taken.push_back(target);
    if (!failed && taken.size() == questions.size()) return success;
    for (const int target : taken)
      if (Error e = unlock(target, LockType::shared)) return e;
    if (failed) return failed;
  }
}

// The target receives the operations before this.
Error Origin::unlock(int target, LockType type) {
  Question question;
  ask(question, target, Action::unlock, type);
  const Error failed = flush(target);
  const Error error = await(question);
  return failed ? failed : error;
}

Error Origin::unlock_all() {
  std::vector<Question> questions(static_cast<std::size_t>(comm_.size));
  ask_all(questions, Action::unlock);
  const Error failed = flush_all();
  const Error error = await_all(questions);
  return failed ? failed : error;
}

}  // namespace heddle::rma::reach
