/// The memory of one rank in a call: the program's buffers and window, staging and node memory.
#pragma once

#include <string>
#include <vector>

#include "core/nodes.hpp"
#include "core/order.hpp"
#include "lowering/program.hpp"
#include "verify/byte_content.hpp"
#include "verify/contract.hpp"

namespace tutti {

/// A call whose programs are verified.
struct ProgramCall {
  Contract contract;
  Order order;                   ///< of the positions of blocks
  std::vector<Bytes> sizes;      ///< of the contract's blocks
  Bytes unit = 1;                ///< bytes of an element, in reductions
  const Nodes* nodes = nullptr;  ///< whose ranks share memory; null: none do
};

/// The buffers that a program passes to a call.
struct BufferLayout {
  BufferTraits traits;
  /// Blocks lie in descending sequence, with undefined bytes between them. Otherwise they are
  /// adjacent in the sequence of the contract.
  bool scattered = false;
  friend bool operator==(const BufferLayout&, const BufferLayout&) = default;
};

/// A use of bytes by an operation.
struct ByteAccess {
  int operation = 0;  ///< its number in the program, or among those of all ranks
  Area area = Area::staging;
  bool writes = false;
  ByteRange bytes;
};

/// The memory of one rank, and the bytes that buffer references mean in it, as in the executor:
/// references to the caller's buffers name blocks, but in reductions, in one-sided collectives and
/// where ranks share node memory; of a datatype that is not contiguous they name whole blocks.
class RankMemory {
 public:
  /// Fills the buffers with the blocks that the contract gives to `rank`. `origins` has the offset
  /// of each block into all blocks, and must outlive the call.
  void start(const ProgramCall& call, const std::vector<Bytes>& origins, Rank rank,
             const BufferLayout& layout, const Program& program);

  /// Appends the uses of the ranges of bytes of `ref`. Returns a text if it has none: no blocks
  /// where it must name some, other bytes than it names, bytes outside its area, or writes
  /// elsewhere than in staging or node memory and the places of results.
  [[nodiscard]] std::string find(const BufferRef& ref, int operation, bool writes,
                                 std::vector<ByteAccess>& accesses);
  /// The bytes of an area but node memory.
  [[nodiscard]] ByteContent& content(Area area) {
    return contents_[static_cast<std::size_t>(area)];
  }

  /// Area::receive, or the window.
  [[nodiscard]] Area results() const { return results_; }
  /// The symbols that must be there at the end, without their sets of ranks.
  [[nodiscard]] const std::vector<ByteSymbols>& wanted() const { return wanted_; }

 private:
  struct Buffer {
    std::vector<Bytes> displacements;  ///< by index of its blocks, see BlockSeries
    std::vector<Bytes> sizes;          ///< the same
    Bytes bytes = 0;
    bool contiguous = true;
  };

  [[nodiscard]] Bytes size_of(Block block) const { return call_->sizes[index(block)]; }
  void lay_out(Area area, const BlockSeries& blocks, bool contiguous);
  /// Puts the blocks of a series into a buffer, the first one where its block `at` is.
  void fill(Area area, const BlockSeries& blocks, int at);
  /// Wants these blocks among the results, but for the one of index `kept`, which is there.
  void want(const BlockSeries& blocks, int kept);
  /// Sets iov_ to the ranges of the blocks in the buffer.
  void find_blocks(Area area, const Blocks& blocks);
  [[nodiscard]] bool may_write(Area area, ByteRange range) const;
  [[nodiscard]] Buffer& buffer(Area area) { return buffers_[static_cast<std::size_t>(area)]; }

  const ProgramCall* call_ = nullptr;
  const std::vector<Bytes>* origins_ = nullptr;
  bool scattered_ = false;
  bool by_blocks_ = false;  ///< the executor finds bytes of the caller's buffers by their blocks
  Area inputs_ = Area::send;
  Area results_ = Area::receive;
  Buffer buffers_[5];  ///< by area
  ByteContent contents_[4];
  std::vector<ByteRange> places_;  ///< of results that are to be written, ascending
  std::vector<ByteSymbols> wanted_;
  std::vector<ByteRange> iov_;  ///< working memory
};

}  // namespace tutti
