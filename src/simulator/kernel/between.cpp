// Copies that the kernel makes between processes. Ranks that stand for processes are threads of this one (`heddle simulate
// --rank-kind processes`), so the other process is this one.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <span>

#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

void touch_all(std::span<const iovec> parts, Access access, const void* caller) {
  for (const iovec& part : parts)
    touch_range(part.iov_base, part.iov_len, access, reinterpret_cast<std::uintptr_t>(caller));
}

long copy(long number, pid_t process, std::span<const iovec> ours, std::span<const iovec> theirs, unsigned long flags,
          const void* caller) {
  if (self != nullptr) {
    enter_kernel(simulation->scheduler.machine().system_call);
    const bool reads = number == SYS_process_vm_readv;
    touch_all(reads ? theirs : ours, Access::read, caller);
    touch_all(reads ? ours : theirs, Access::write, caller);
    drain();
  }
  return with_errno(system_call(number, process, reinterpret_cast<long>(ours.data()), static_cast<long>(ours.size()),
                                reinterpret_cast<long>(theirs.data()), static_cast<long>(theirs.size()),
                                static_cast<long>(flags)));
}

}  // namespace
}  // namespace heddle::simulator

extern "C" {

ssize_t process_vm_readv(pid_t process, const iovec* ours, unsigned long n, const iovec* theirs, unsigned long m,
                         unsigned long flags) {
  return heddle::simulator::copy(SYS_process_vm_readv, process, {ours, n}, {theirs, m}, flags,
                                 __builtin_return_address(0));
}
ssize_t process_vm_writev(pid_t process, const iovec* ours, unsigned long n, const iovec* theirs, unsigned long m,
                          unsigned long flags) {
  return heddle::simulator::copy(SYS_process_vm_writev, process, {ours, n}, {theirs, m}, flags,
                                 __builtin_return_address(0));
}
}
