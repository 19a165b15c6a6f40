#include "pennon/expr/float_order.h"

#include <memory>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>

namespace pennon::expr {
namespace {

template <typename Float, typename Key>
arrow::Result<arrow::Datum> KeysOf(const arrow::Datum& values,
                                   const std::shared_ptr<arrow::DataType>& key_type,
                                   arrow::MemoryPool* pool) {
  if (values.is_scalar()) {
    const auto& scalar =
        values.scalar_as<arrow::NumericScalar<typename arrow::CTypeTraits<Float>::ArrowType>>();
    if (!scalar.is_valid) return arrow::Datum(arrow::MakeNullScalar(key_type));
    return arrow::Datum(arrow::MakeScalar(FloatOrderKey(scalar.value)));
  }
  const arrow::ArrayData& data = *values.array();
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> keys,
                        arrow::AllocateBuffer(data.length * sizeof(Key), pool));
  const Float* in = data.GetValues<Float>(1);
  Key* out = reinterpret_cast<Key*>(keys->mutable_data());
  for (int64_t i = 0; i < data.length; ++i) out[i] = FloatOrderKey(in[i]);
  std::shared_ptr<arrow::Buffer> validity = data.buffers[0];
  if (validity && data.offset != 0) {
    ARROW_ASSIGN_OR_RAISE(
        validity, arrow::internal::CopyBitmap(pool, validity->data(), data.offset, data.length));
  }
  return arrow::Datum(arrow::ArrayData::Make(
      key_type, data.length, {std::move(validity), std::move(keys)}, data.GetNullCount()));
}

}  // namespace

arrow::Result<arrow::Datum> FloatOrderKeys(const arrow::Datum& values, arrow::MemoryPool* pool) {
  switch (values.type()->id()) {
    case arrow::Type::DOUBLE:
      return KeysOf<double, int64_t>(values, arrow::int64(), pool);
    case arrow::Type::FLOAT:
      return KeysOf<float, int32_t>(values, arrow::int32(), pool);
    default:
      return values;
  }
}

}  // namespace pennon::expr
