// The part of PMIx that Heddle uses, as its standard lays it out (PMIx Standard 4.1, chapter 3): names, types and
// constants of the binary interface of libpmix.so.2, which is opened at run time. Nothing of it is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::boot::pmix {

inline constexpr char library[] = "libpmix.so.2";

using Status = int;
inline constexpr Status success = 0;
inline constexpr Status timeout = -24;

inline constexpr std::size_t longest_namespace = 255;
inline constexpr std::size_t longest_key = 511;
inline constexpr std::uint32_t all_ranks = UINT32_MAX - 1;  // wildcard

struct Process {
  char job[longest_namespace + 1];
  std::uint32_t rank;
};

enum class Type : std::uint16_t { boolean = 1, string = 3, integer = 6, unsigned32 = 14, process = 22, array = 39 };

struct Array {
  Type type;
  std::size_t size;
  void* elements;
};

struct Value {
  Type type;
  union {
    bool boolean;
    char* string;
    int integer;
    std::uint32_t unsigned32;
    Array* array;
    void* widest[3];  // the largest members are three pointers long
  } data;
};
static_assert(sizeof(Value) == 32);

struct Info {
  char key[longest_key + 1];
  std::uint32_t flags;
  Value value;
};
static_assert(sizeof(Info) == 552);

struct Query {
  char** keys;  // and a null pointer behind them
  Info* qualifiers;
  std::size_t qualifier_count;
};

using Scope = std::uint8_t;
inline constexpr Scope global_scope = 3;

// Keys.
inline constexpr char job_size[] = "pmix.job.size";
inline constexpr char universe_size[] = "pmix.univ.size";
inline constexpr char appnum[] = "pmix.appnum";
inline constexpr char local_peers[] = "pmix.lpeers";  // a text with commas
inline constexpr char collect_data[] = "pmix.collect";
inline constexpr char time_limit[] = "pmix.timeout";
inline constexpr char set_names[] = "pmix.qry.psets";  // a text with commas
inline constexpr char set_members[] = "pmix.qry.pmems";
inline constexpr char set_name[] = "pmix.pset.nm";

struct Functions {
  Status (*init)(Process*, Info*, std::size_t);
  Status (*finalize)(const Info*, std::size_t);
  Status (*abort)(int, const char*, Process*, std::size_t);
  Status (*put)(Scope, const char*, Value*);
  Status (*commit)();
  Status (*fence)(const Process*, std::size_t, const Info*, std::size_t);
  Status (*get)(const Process*, const char*, const Info*, std::size_t, Value**);
  Status (*query)(Query*, std::size_t, Info**, std::size_t*);
  const char* (*error_string)(Status);
};

}  // namespace heddle::boot::pmix
