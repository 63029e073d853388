#include "base/shared_heap/arena.hpp"

#include <sys/mman.h>

namespace heddle::shared_heap {

bool Arena::begin(std::byte* start, std::size_t bytes, std::size_t reserved) {
  const std::size_t pages = bytes / page;
  void* const tags = mmap(nullptr, (pages + 1) * sizeof(Tag), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tags == MAP_FAILED) return false;
  tags_ = static_cast<Tag*>(tags);
  start_ = start;
  pages_ = pages;
  first_ = unused_ = static_cast<Page>(reserved / page);
  return true;
}

void Arena::mark(Page first, Page pages, bool free) {
  tags_[first].pages = tags_[first + pages - 1].pages = pages;
  tags_[first].free = tags_[first + pages - 1].free = free;
}

void Arena::put(Page first, Page pages) {
  mark(first, pages, true);
  Page& head = free_[list_of(pages)];
  tags_[first].previous = none;
  tags_[first].next = head;
  if (head != none) tags_[head].previous = first;
  head = first;
}

void Arena::take(Page first) {
  const Tag& tag = tags_[first];
  (tag.previous != none ? tags_[tag.previous].next : free_[list_of(tag.pages)]) = tag.next;
  if (tag.next != none) tags_[tag.next].previous = tag.previous;
}

Arena::Page Arena::find(Page pages) {
  for (int list = list_of(pages); list < lists; ++list) {
    Page best = none;
    for (Page run = free_[list]; run != none; run = tags_[run].next)
      if (tags_[run].pages >= pages && (best == none || tags_[run].pages < tags_[best].pages)) best = run;
    if (best == none) continue;
    take(best);
    return best;
  }
  return none;
}

// A run of pages that are in no list, together with its free neighbours: returns its start.
Arena::Page Arena::give_back(Page first, Page pages) {
  if (first > first_ && tags_[first - 1].free) {
    const Page before = tags_[first - 1].pages;
    first -= before;
    pages += before;
    take(first);
  }
  if (first + pages < unused_ && tags_[first + pages].free) {
    const Page behind = first + pages;
    take(behind);
    pages += tags_[behind].pages;
  }
  put(first, pages);
  return first;
}

void* Arena::allocate(std::size_t bytes, std::size_t alignment, bool& fresh) {
  const std::size_t wanted = (bytes + page - 1) / page, more = alignment > page ? alignment / page - 1 : 0;
  if (wanted == 0 || wanted + more >= pages_) return nullptr;
  const auto pages = static_cast<Page>(wanted + more);
  Page first = find(pages);
  fresh = false;
  Page found = pages;
  if (first != none) {
    found = tags_[first].pages;
  } else {
    // With the free pages that the unused ones begin behind, should there be any.
    const Page before = unused_ > first_ && tags_[unused_ - 1].free ? tags_[unused_ - 1].pages : 0;
    if (pages > pages_ - unused_ + before) return nullptr;
    first = unused_ - before;
    if (before != 0) take(first);
    fresh = before == 0;
    unused_ = first + pages;
  }
  const std::size_t off = (reinterpret_cast<std::uintptr_t>(start_) / page + first) % (more + 1);
  const Page before = off == 0 ? 0 : static_cast<Page>(more + 1 - off);
  const Page behind = found - before - static_cast<Page>(wanted);
  mark(first + before, static_cast<Page>(wanted), false);
  // In this order: each checks its neighbour on the block's side, which is taken.
  if (before != 0) (void)give_back(first, before);
  if (behind != 0) (void)give_back(first + before + static_cast<Page>(wanted), behind);
  return start_ + std::size_t{first + before} * page;
}

std::size_t Arena::size_of(const void* block) const { return std::size_t{tags_[page_of(block)].pages} * page; }

bool Arena::resize(void* block, std::size_t bytes) {
  const Page first = page_of(block), now = tags_[first].pages;
  const std::size_t wanted = (bytes + page - 1) / page;
  if (wanted == 0 || wanted >= pages_) return false;
  const auto pages = static_cast<Page>(wanted);
  if (pages == now) return true;
  const Page behind = first + now;
  if (pages > now) {
    if (behind < unused_ && tags_[behind].free && now + tags_[behind].pages >= pages) {
      const Page all = now + tags_[behind].pages;
      take(behind);
      mark(first, pages, false);
      if (all != pages) put(first + pages, all - pages);
      return true;
    }
    if (behind != unused_ || pages - now > pages_ - unused_) return false;
    unused_ += pages - now;
    mark(first, pages, false);
    return true;
  }
  mark(first, pages, false);
  (void)give_back(first + pages, now - pages);
  return true;
}

Arena::Run Arena::release(void* block) {
  const Page first = give_back(page_of(block), tags_[page_of(block)].pages);
  return {start_ + std::size_t{first} * page, std::size_t{tags_[first].pages} * page};
}

}  // namespace heddle::shared_heap
