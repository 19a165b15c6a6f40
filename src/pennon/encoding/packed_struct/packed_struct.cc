#include "pennon/encoding/packed_struct/packed_struct.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "pennon/encoding/kernels/block_values.h"
#include "pennon/error.h"

namespace pennon::encoding {

using wire::CompressionKind;
using Bytes = std::span<const uint8_t>;

namespace {

arrow::Status CheckChildren(size_t expected, size_t found) {
  if (expected == found) return arrow::Status::OK();
  return Corrupt("", "a packed struct has another number of children than its type: expected ",
                 expected, ", found ", found);
}

arrow::Status WrongWidth(uint64_t expected, uint64_t found) {
  return Corrupt("", "a child of a packed struct has another width than its type: expected ",
                 expected, " bits, found ", found);
}

arrow::Status TooShort() {
  return Corrupt("", "a row of a packed struct ends before its last child");
}

/// Takes the lengths of a variable child and the bytes they count off the front of the rows.
arrow::Status TakeValues(uint64_t length_bytes, std::span<Bytes> rows, std::vector<Bytes>* values) {
  values->resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    Bytes& row = rows[i];
    if (row.data() == nullptr) continue;
    if (row.size() < length_bytes) return TooShort();
    uint64_t length = 0;
    std::memcpy(&length, row.data(), length_bytes);
    if (row.size() - length_bytes < length) return TooShort();
    (*values)[i] = row.subspan(length_bytes, length);
    row = row.subspan(length_bytes + length);
  }
  return arrow::Status::OK();
}

template <typename Width>
void CopyStrided(const uint8_t* from, uint64_t stride, uint64_t count, Width width, uint8_t* to) {
  for (uint64_t i = 0; i < count; ++i, from += stride, to += width) std::memcpy(to, from, width);
}

}  // namespace

arrow::Result<uint64_t> PackedRowBits(const wire::CompressiveEncoding& encoding,
                                      const LeafType& type) {
  if (encoding.kind != CompressionKind::kPackedStruct) {
    return Unsupported(
        "", "encoding of packed structs in mini-blocks: ", wire::CompressionName(encoding.kind));
  }
  ARROW_RETURN_NOT_OK(CheckChildren(type.children.size(), encoding.child_bits.size()));
  uint64_t sum = 0;
  for (size_t i = 0; i < type.children.size(); ++i) {
    const LeafType& child = type.children[i];
    const uint64_t bits = child.bits_per_slot();
    if (child.kind != LeafKind::kFixed || bits % 8 != 0) {
      return Corrupt("", "a packed struct of fixed width has a child that is not whole bytes");
    }
    if (encoding.child_bits[i] != bits) return WrongWidth(bits, encoding.child_bits[i]);
    if (__builtin_add_overflow(sum, bits, &sum))
      return Corrupt("", "the children of a packed struct are too wide");
  }
  if (sum == 0) return Corrupt("", "a packed struct has no children");
  ARROW_RETURN_NOT_OK(ExpectFlat(encoding.children[0], sum));
  return sum;
}

void WritePackedRows(const uint8_t* rows, uint64_t stride, uint64_t count, uint64_t slot,
                     ColumnOutput* out) {
  for (size_t i = 0; i < out->type().children.size(); ++i) {
    ColumnOutput& child = out->child(i);
    const uint64_t width = child.type().bits_per_slot() / 8;
    uint8_t* const to = child.values() + slot * width;
    switch (width) {
      case 4:
        CopyStrided(rows, stride, count, std::integral_constant<size_t, 4>(), to);
        break;
      case 8:
        CopyStrided(rows, stride, count, std::integral_constant<size_t, 8>(), to);
        break;
      default:
        CopyStrided(rows, stride, count, width, to);
    }
    rows += width;
  }
}

arrow::Result<VariablePackedRows> VariablePackedRows::Make(
    const wire::CompressiveEncoding& encoding, const LeafType& type) {
  if (encoding.kind != CompressionKind::kVariablePackedStruct) {
    return Unsupported(
        "", "encoding of packed structs in full-zip pages: ", wire::CompressionName(encoding.kind));
  }
  ARROW_RETURN_NOT_OK(CheckChildren(type.children.size(), encoding.children.size()));
  VariablePackedRows out;
  for (size_t i = 0; i < type.children.size(); ++i) {
    const LeafType& child_type = type.children[i];
    const wire::CompressiveEncoding& child_encoding = encoding.children[i];
    const uint64_t bits = encoding.child_bits[i];
    Child child;
    child.is_variable = encoding.child_is_variable[i];
    if (child.is_variable != (child_type.kind != LeafKind::kFixed)) {
      return Corrupt("", "a child of a packed struct is of another kind than its type: expected ",
                     child.is_variable ? "fixed" : "variable", " width");
    }
    if (child.is_variable) {
      if (bits != 32 && bits != 64)
        return Corrupt("", "the lengths of a packed struct's child must have 32 or 64 bits, found ",
                       bits);
      child.bytes = bits / 8;
    }
    if (child_type.kind == LeafKind::kFixed) {
      if (child_type.bits_per_slot() % 8 != 0)
        return Unsupported("", "packed structs with a child of part of a byte");
      ARROW_ASSIGN_OR_RAISE(child.fixed,
                            FixedValue::Make(child_encoding, child_type, "packed structs"));
      child.bytes = child.fixed.bytes();
      if (child.bytes * 8 != bits) return WrongWidth(child.bytes * 8, bits);
    } else if (child_type.kind == LeafKind::kVariable) {
      ARROW_RETURN_NOT_OK(MakeString(child_encoding, child_type, &child));
    } else if (child_type.kind == LeafKind::kStruct) {
      ARROW_ASSIGN_OR_RAISE(auto nested, Make(child_encoding, child_type));
      child.nested = std::make_unique<const VariablePackedRows>(std::move(nested));
    } else {
      return Unsupported("", "packed structs with a child of type null or dictionary");
    }
    out.children_.push_back(std::move(child));
  }
  return out;
}

arrow::Status VariablePackedRows::MakeString(const wire::CompressiveEncoding& encoding,
                                             const LeafType& type, Child* child) {
  const wire::CompressiveEncoding* inner = &encoding;
  if (inner->kind == CompressionKind::kGeneral) {
    ARROW_ASSIGN_OR_RAISE(child->general, GeneralSchemeOf(inner->scheme));
    inner = &inner->children[0];
  }
  if (inner->kind == CompressionKind::kFsst) {
    const auto* table = reinterpret_cast<const uint8_t*>(inner->symbol_table.data());
    ARROW_ASSIGN_OR_RAISE(auto parsed, FsstTable::Parse({table, inner->symbol_table.size()}));
    if (parsed.coded()) child->fsst = parsed;
    inner = &inner->children[0];
  }
  if (inner->kind != CompressionKind::kVariable || inner->scheme != 0) {
    return Unsupported(
        "", "encoding of strings in packed structs: ", wire::CompressionName(inner->kind));
  }
  return ExpectFlat(inner->children[0], static_cast<uint64_t>(type.offset_bits));
}

arrow::Status VariablePackedRows::WriteFixed(const Child& child, std::span<Bytes> rows,
                                             uint64_t slot, ColumnOutput* out) {
  uint8_t* to = out->values() + slot * (out->type().bits_per_slot() / 8);
  const uint64_t slot_bytes = out->type().bits_per_slot() / 8;
  for (size_t i = 0; i < rows.size(); ++i, to += slot_bytes) {
    Bytes& row = rows[i];
    if (row.data() == nullptr) {
      std::memset(to, 0, slot_bytes);
      continue;
    }
    if (row.size() < child.bytes) return TooShort();
    if (child.fixed.item_bytes == slot_bytes) {
      std::memcpy(to, row.data() + child.fixed.item_offset, slot_bytes);
    } else {
      std::memset(to, 0, slot_bytes);
    }
    for (const FixedValue::Validity& validity : child.fixed.validity) {
      ARROW_RETURN_NOT_OK(
          out->item_validity(validity.layer)
              .CopyBits(row.data() + validity.offset, 0, (slot + i) * validity.run, validity.run));
    }
    row = row.subspan(child.bytes);
  }
  return arrow::Status::OK();
}

arrow::Status VariablePackedRows::WriteStrings(const Child& child, std::span<const Bytes> values,
                                               uint64_t slot, ColumnOutput* out) {
  VariableOutput& strings = out->variable();
  ARROW_RETURN_NOT_OK(strings.StartRun(slot));
  std::vector<uint8_t> scratch;
  const auto write = [&](auto* ends) -> arrow::Status {
    using End = std::remove_pointer_t<decltype(ends)>;
    uint64_t end = strings.size();
    for (size_t i = 0; i < values.size(); ++i) {
      Bytes value = values[i];
      if (child.general && !value.empty()) {
        ARROW_RETURN_NOT_OK(
            DecompressTo(*child.general, value, std::numeric_limits<int32_t>::max(), &scratch));
        value = scratch;
      }
      const uint64_t most =
          child.fsst ? child.fsst->MaxDecodedBytes(value.size()) + FsstTable::kSlack : value.size();
      ARROW_ASSIGN_OR_RAISE(uint8_t* const at, strings.Reserve(most));
      uint64_t size = value.size();
      if (child.fsst) {
        const uint8_t* const stop = child.fsst->Decode(value, at);
        if (stop == nullptr) return child.fsst->InvalidValue(value);
        size = static_cast<uint64_t>(stop - at);
      } else if (size > 0) {
        std::memcpy(at, value.data(), size);
      }
      strings.AdvanceBytes(size);
      end += size;
      ends[i] = static_cast<End>(end);
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(strings.offset_bits() == 32 ? write(strings.ends<uint32_t>())
                                                  : write(strings.ends<uint64_t>()));
  return strings.FinishRun(values.size());
}

arrow::Status VariablePackedRows::Write(std::span<Bytes> rows, uint64_t slot,
                                        ColumnOutput* out) const {
  std::vector<Bytes> values;
  for (size_t i = 0; i < children_.size(); ++i) {
    const Child& child = children_[i];
    ColumnOutput& to = out->child(i);
    if (!child.is_variable) {
      ARROW_RETURN_NOT_OK(WriteFixed(child, rows, slot, &to));
      continue;
    }
    values.clear();
    ARROW_RETURN_NOT_OK(TakeValues(child.bytes, rows, &values));
    ARROW_RETURN_NOT_OK(child.nested ? child.nested->Write(values, slot, &to)
                                     : WriteStrings(child, values, slot, &to));
  }
  for (const Bytes& row : rows) {
    if (!row.empty())
      return Corrupt("", "a row of a packed struct is longer than its children: ", row.size(),
                     " bytes left");
  }
  return arrow::Status::OK();
}

size_t VariablePackedRows::MemoryBytes() const {
  size_t bytes = sizeof(*this) + children_.capacity() * sizeof(Child);
  for (const Child& child : children_) {
    bytes += child.fixed.validity.capacity() * sizeof(FixedValue::Validity) +
             (child.nested ? child.nested->MemoryBytes() : 0);
  }
  return bytes;
}

}  // namespace pennon::encoding
