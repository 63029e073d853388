// From the contents of a datatype to its program, bottom up; each step yields the simplest possible node.
#include "objects/datatype/compile.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "objects/datatype/contents.hpp"
#include "objects/datatype/predefined.hpp"
#include "objects/datatype/program.hpp"

namespace heddle::datatype {
namespace {

struct CompiledProgram : Program {
  std::vector<Node> node_table;
  std::vector<Entry> entry_table;
  std::vector<std::int64_t> offset_table;

  void link() {
    nodes = node_table.data();
    entries = entry_table.data();
    offsets = offset_table.data();
  }
};

// A node and its place. Size 0: nothing at all.
struct Placed {
  std::int64_t disp = 0;
  Node node;
  std::size_t runs = 0;
};

struct Run {
  std::int64_t disp;
  std::size_t length;
};

class Compiler {
 public:
  explicit Compiler(CompiledProgram& program) : program_(program) {}

  Placed compile(const Datatype& type);
  std::uint32_t store(const Node& node);

 private:
  friend class Sequence;

  Placed compile_child(const Datatype& type);
  Placed repeated(const Placed& child, std::int64_t count, std::int64_t stride);
  Placed place_runs(const std::vector<Run>& runs);
  Placed place_children(const std::vector<Placed>& children);

  CompiledProgram& program_;
  const Datatype* last_type_ = nullptr;  // the blocks of an indexed type have all the same child
  Placed last_;
};

// Collects nodes that follow each other.
class Sequence {
 public:
  explicit Sequence(Compiler& compiler) : compiler_(compiler) {}

  void add(const Placed& next) {
    const Node& node = next.node;
    if (node.size == 0) return;
    if (node.shape == Shape::run) {
      add_run(next.disp, node.length);
    } else if (node.count > worth_a_node) {
      add_child(next);
    } else if (node.shape == Shape::vector) {
      for (std::int64_t i = 0; i < node.count; ++i) add_run(next.disp + i * node.stride, node.length);
    } else if (node.shape == Shape::block) {
      for (std::int64_t i = 0; i < node.count; ++i) {
        add_run(next.disp + compiler_.program_.offset_table[node.table + i], node.length);
      }
    } else if (node.shape == Shape::indexed) {
      for (std::int64_t i = 0; i < node.count; ++i) {
        const Entry* entry = &compiler_.program_.entry_table[node.table + i];
        add_run(next.disp + entry->disp, entry[1].start - entry[0].start);
      }
    } else {
      add_child(next);
    }
  }

  Placed finish() {
    if (children_.empty()) return compiler_.place_runs(runs_);
    flush();
    return compiler_.place_children(children_);
  }

 private:
  static constexpr std::int64_t worth_a_node = 8;  // arrangements of fewer runs are written out

  void add_run(std::int64_t disp, std::size_t length) {
    if (!runs_.empty() && runs_.back().disp + static_cast<std::int64_t>(runs_.back().length) == disp) {
      runs_.back().length += length;
    } else {
      runs_.push_back({disp, length});
    }
  }

  void add_child(const Placed& child) {
    flush();
    children_.push_back(child);
  }

  void flush() {
    if (runs_.empty()) return;
    children_.push_back(compiler_.place_runs(runs_));
    runs_.clear();
  }

  Compiler& compiler_;
  std::vector<Run> runs_;
  std::vector<Placed> children_;
};

std::uint32_t Compiler::store(const Node& node) {
  std::vector<Node>& table = program_.node_table;
  if (table.empty() || table.back() != node) table.push_back(node);
  return static_cast<std::uint32_t>(table.size() - 1);
}

Placed Compiler::repeated(const Placed& child, std::int64_t count, std::int64_t stride) {
  if (count == 0 || child.node.size == 0) return {};
  constexpr std::uint32_t none = UINT32_MAX;
  Node node = repeat(child.node, none, count, stride);
  if (node.shape == Shape::loop && node.table == none) node.table = store(child.node);
  return {child.disp, node, child.runs * static_cast<std::size_t>(count)};
}

Placed Compiler::place_runs(const std::vector<Run>& runs) {
  if (runs.empty()) return {};
  const std::int64_t first = runs[0].disp;
  const std::size_t length = runs[0].length;
  const auto count = static_cast<std::int64_t>(runs.size());
  if (count == 1) return {first, {Shape::run, 0, length, length, 0, 0}, 1};

  const std::int64_t stride = runs[1].disp - first;
  bool equal = true;
  bool regular = true;
  std::size_t size = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    equal = equal && runs[i].length == length;
    regular = regular && runs[i].disp == first + static_cast<std::int64_t>(i) * stride;
    size += runs[i].length;
  }
  if (equal && regular) return {first, {Shape::vector, 0, size, length, count, stride}, runs.size()};

  if (equal) {
    const auto table = static_cast<std::uint32_t>(program_.offset_table.size());
    program_.offset_table.reserve(table + runs.size());
    for (const Run& run : runs) program_.offset_table.push_back(run.disp - first);
    return {first, {Shape::block, table, size, length, count, 0}, runs.size()};
  }
  const auto table = static_cast<std::uint32_t>(program_.entry_table.size());
  program_.entry_table.reserve(table + runs.size() + 1);
  std::size_t start = 0;
  for (const Run& run : runs) {
    program_.entry_table.push_back({run.disp - first, start, 0});
    start += run.length;
  }
  program_.entry_table.push_back({0, start, 0});
  return {first, {Shape::indexed, table, size, 0, count, 0}, runs.size()};
}

Placed Compiler::place_children(const std::vector<Placed>& children) {
  const Placed& first = children[0];
  if (children.size() == 1) return first;
  const std::int64_t stride = children[1].disp - first.disp;
  bool regular = true;
  for (std::size_t i = 0; i < children.size() && regular; ++i) {
    regular = children[i].node == first.node && children[i].disp == first.disp + static_cast<std::int64_t>(i) * stride;
  }
  if (regular) return repeated(first, static_cast<std::int64_t>(children.size()), stride);

  const auto table = static_cast<std::uint32_t>(program_.entry_table.size());
  program_.entry_table.reserve(table + children.size() + 1);
  std::size_t start = 0;
  std::size_t runs = 0;
  for (const Placed& child : children) {
    program_.entry_table.push_back({child.disp - first.disp, start, store(child.node)});
    start += child.node.size;
    runs += child.runs;
  }
  program_.entry_table.push_back({0, start, 0});
  return {first.disp, {Shape::sequence, table, start, 0, static_cast<std::int64_t>(children.size()), 0}, runs};
}

Placed Compiler::compile_child(const Datatype& type) {
  if (last_type_ != &type) {
    last_ = compile(type);
    last_type_ = &type;
  }
  return last_;
}

Placed Compiler::compile(const Datatype& type) {
  if (type.size == 0) return {};
  if (type.run) return place_runs({{type.true_lb, static_cast<std::size_t>(type.size)}});
  if (type.is_pair()) {
    const auto place = static_cast<std::int64_t>(index_place(type.value, type.index));
    return place_runs({{0, size_of(type.value)}, {place, size_of(type.index)}});
  }
  Sequence sequence(*this);
  for_each_part(*type.contents, [&](const Part& part) {
    Placed inner = repeated(compile_child(*part.child), part.block, part.child->extent);
    Placed outer = repeated(inner, part.count, part.stride);
    outer.disp += part.disp;
    sequence.add(outer);
  });
  return sequence.finish();
}

}  // namespace

void compile(Datatype& type) {
  auto program = std::make_unique<CompiledProgram>();
  Compiler compiler(*program);
  const Placed all = compiler.compile(type);
  type.run = all.node.shape == Shape::run;
  type.dense = type.size == 0 || (type.run && type.extent == type.size);
  if (type.dense) return;
  program->root = compiler.store(all.node);
  program->disp = all.disp;
  program->runs = all.runs;
  program->link();
  type.program = program.release();
}

void discard_program(Datatype& type) {
  // Only compiled ones come here: the predefined types, whose programs are constants, are never released.
  delete static_cast<const CompiledProgram*>(type.program);
}

}  // namespace heddle::datatype
