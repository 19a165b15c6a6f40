// The extension module: one class over pennon::Dataset. Everything a user sees is in
// python/pennon/.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "pennon/pennon.h"

namespace pennon::python {
namespace {

nb::dict FileToPython(const FileInfo& file) {
  nb::dict out;
  out["path"] = file.path;
  out["fields"] = file.fields;
  out["column_indices"] = file.column_indices;
  out["version"] = file.version;
  out["bytes"] = file.size_bytes;
  return out;
}

nb::list FragmentsToPython(const std::vector<FragmentInfo>& fragments) {
  nb::list out;
  for (const FragmentInfo& fragment : fragments) {
    nb::dict entry;
    entry["id"] = fragment.id;
    entry["physical_rows"] = fragment.physical_rows;
    entry["deleted_rows"] = fragment.deleted_rows;
    entry["overlays"] = fragment.overlays;
    nb::list files;
    for (const FileInfo& file : fragment.files) files.append(FileToPython(file));
    entry["files"] = files;
    out.append(entry);
  }
  return out;
}

nb::list OverlaysToPython(const std::vector<OverlayInfo>& overlays) {
  nb::list out;
  for (const OverlayInfo& overlay : overlays) {
    nb::dict entry;
    entry["fragment"] = overlay.fragment;
    entry["position"] = overlay.position;
    entry["committed_version"] = overlay.committed_version;
    entry["dense"] = overlay.dense;
    entry["path"] = overlay.file.path;
    entry["bytes"] = overlay.file.size_bytes;
    entry["cells"] = overlay.cells;
    entry["winning"] = overlay.winning;
    nb::list fields;
    for (const auto& field : overlay.fields) {
      nb::dict item;
      item["id"] = field.field;
      item["name"] = field.name.empty() ? nb::none() : nb::cast(field.name);
      item["cells"] = field.cells;
      item["winning"] = field.winning;
      fields.append(item);
    }
    entry["fields"] = fields;
    out.append(entry);
  }
  return out;
}

nb::dict SourceToPython(const CellExplanation::Source& source) {
  nb::dict out;
  out["source"] = source.overlay ? "overlay" : (source.path.empty() ? "none" : "base");
  out["file"] = source.path.empty() ? nb::none() : nb::cast(source.path);
  out["committed_version"] = nb::cast(source.version);
  out["rank"] = nb::cast(source.rank);
  out["file_column"] = source.column < 0 ? nb::none() : nb::cast(source.column);
  out["value"] = ScalarToPython(source.value);
  return out;
}

nb::dict ExplanationToPython(const CellExplanation& cell) {
  nb::dict out;
  out["row"] = cell.row;
  out["fragment"] = cell.fragment;
  out["offset"] = cell.offset;
  out["row_address"] = cell.fragment << 32 | cell.offset;
  out["column"] = cell.column;
  out["field"] = cell.field;
  out["value"] = ScalarToPython(cell.value);
  out["winner"] = SourceToPython(cell.winner);
  nb::list shadowed;
  for (const auto& source : cell.shadowed) shadowed.append(SourceToPython(source));
  out["shadowed"] = shadowed;
  return out;
}

nb::dict CommitToPython(const CommitInfo& info) {
  nb::dict out;
  out["version"] = info.version;
  out["rows"] = info.rows;
  out["cells"] = info.cells;
  out["files"] = info.files;
  out["bytes_written"] = info.bytes_written;
  out["attempts"] = info.attempts;
  return out;
}

UpdateStrategy StrategyFromText(const std::string& text) {
  if (text == "auto") return UpdateStrategy::kAuto;
  if (text == "overlay") return UpdateStrategy::kOverlay;
  if (text == "rewrite-column") return UpdateStrategy::kRewriteColumn;
  if (text == "move-rows") return UpdateStrategy::kMoveRows;
  Raise(InvalidInput(
      "unknown strategy: expected auto, overlay, rewrite-column or move-rows, found '", text, "'"));
}

ScanOptions ScanOptionsFromPython(nb::handle columns, nb::handle filter,
                                  std::optional<int64_t> limit, int64_t offset, bool with_row_id,
                                  bool with_row_address, std::optional<int64_t> batch_size) {
  ScanOptions options;
  options.columns = ColumnsFromPython(columns);
  options.where = FilterFromPython(filter);
  options.limit = limit;
  options.offset = offset;
  options.with_row_id = with_row_id;
  options.with_row_address = with_row_address;
  if (batch_size) options.batch_size = *batch_size;
  return options;
}

TakeOptions TakeOptionsFromPython(nb::handle columns, bool with_row_id, bool with_row_address) {
  TakeOptions options;
  options.columns = ColumnsFromPython(columns);
  options.with_row_id = with_row_id;
  options.with_row_address = with_row_address;
  return options;
}

/// Copies a null-free Arrow array of `ArrayType` (the Python side made it so).
template <typename ArrayType>
auto ValuesFromPython(nb::handle object) {
  auto array = ArrayFromPython(object);
  const auto& typed = static_cast<const ArrayType&>(*array);
  using Value = typename ArrayType::value_type;
  return std::vector<Value>(typed.raw_values(), typed.raw_values() + typed.length());
}

std::vector<OverlayColumn> OverlayColumnsFromPython(nb::list columns) {
  std::vector<OverlayColumn> out;
  for (nb::handle item : columns) {
    auto triple = nb::cast<nb::tuple>(item);
    OverlayColumn column;
    column.name = nb::cast<std::string>(triple[0]);
    column.offsets = ValuesFromPython<arrow::UInt32Array>(triple[1]);
    column.values = ArrayFromPython(triple[2]);
    out.push_back(std::move(column));
  }
  return out;
}

void BindScans(nb::class_<Dataset>& cls) {
  cls.def(
         "scan",
         [](const Dataset& self, nb::handle columns, nb::handle filter,
            std::optional<int64_t> limit, int64_t offset, bool with_row_id, bool with_row_address,
            std::optional<int64_t> batch_size) {
           auto options = ScanOptionsFromPython(columns, filter, limit, offset, with_row_id,
                                                with_row_address, batch_size);
           return StreamToPython(Run([&] { return self.Scan(options); }));
         },
         nb::arg("columns").none(), nb::arg("filter").none(), nb::arg("limit").none(),
         nb::arg("offset"), nb::arg("with_row_id"), nb::arg("with_row_address"),
         nb::arg("batch_size").none())
      .def(
          "to_table",
          [](const Dataset& self, nb::handle columns, nb::handle filter,
             std::optional<int64_t> limit, int64_t offset, bool with_row_id, bool with_row_address,
             std::optional<int64_t> batch_size) {
            auto options = ScanOptionsFromPython(columns, filter, limit, offset, with_row_id,
                                                 with_row_address, batch_size);
            return TableToPython(Run([&] { return self.ToTable(options); }));
          },
          nb::arg("columns").none(), nb::arg("filter").none(), nb::arg("limit").none(),
          nb::arg("offset"), nb::arg("with_row_id"), nb::arg("with_row_address"),
          nb::arg("batch_size").none())
      .def(
          "count_rows",
          [](const Dataset& self, nb::handle filter) {
            Filter where = FilterFromPython(filter);
            return Run([&] { return self.CountRows(where); });
          },
          nb::arg("filter").none());
}

void BindTakes(nb::class_<Dataset>& cls) {
  cls.def(
         "take",
         [](const Dataset& self, nb::handle positions, nb::handle columns, bool with_row_id,
            bool with_row_address) {
           auto rows = ValuesFromPython<arrow::Int64Array>(positions);
           auto options = TakeOptionsFromPython(columns, with_row_id, with_row_address);
           return TableToPython(
               Run([&] { return self.Take(std::span<const int64_t>(rows), options); }));
         },
         nb::arg("positions"), nb::arg("columns").none(), nb::arg("with_row_id"),
         nb::arg("with_row_address"))
      .def(
          "take_addresses",
          [](const Dataset& self, nb::handle asked, nb::handle columns, bool with_row_id,
             bool with_row_address) {
            auto addresses = ValuesFromPython<arrow::UInt64Array>(asked);
            auto options = TakeOptionsFromPython(columns, with_row_id, with_row_address);
            return TableToPython(Run([&] { return self.TakeAddresses(addresses, options); }));
          },
          nb::arg("addresses"), nb::arg("columns").none(), nb::arg("with_row_id"),
          nb::arg("with_row_address"))
      .def(
          "take_row_ids",
          [](const Dataset& self, nb::handle asked, nb::handle columns, bool with_row_id,
             bool with_row_address) {
            auto ids = ValuesFromPython<arrow::UInt64Array>(asked);
            auto options = TakeOptionsFromPython(columns, with_row_id, with_row_address);
            return TableToPython(Run([&] { return self.TakeRowIds(ids, options); }));
          },
          nb::arg("ids"), nb::arg("columns").none(), nb::arg("with_row_id"),
          nb::arg("with_row_address"));
}

void BindFacts(nb::class_<Dataset>& cls) {
  cls.def(
         "overlays",
         [](const Dataset& self) { return OverlaysToPython(Run([&] { return self.Overlays(); })); })
      .def("fragments", [](const Dataset& self) { return FragmentsToPython(self.Fragments()); })
      .def("explain_cell",
           [](const Dataset& self, uint64_t row, const std::string& column) {
             return ExplanationToPython(Run([&] { return self.ExplainCell(row, column); }));
           })
      .def("versions",
           [](const Dataset& self) {
             nb::list out;
             for (const VersionInfo& info : Run([&] { return self.Versions(); })) {
               nb::dict metadata;
               for (const auto& [key, value] : info.metadata) metadata[key.c_str()] = value;
               out.append(nb::make_tuple(info.version, info.timestamp_ns, metadata));
             }
             return out;
           })
      .def("checkout", [](const Dataset& self, std::optional<uint64_t> version) {
        return Run([&] { return self.Checkout(version); });
      });
}

void BindWrites(nb::class_<Dataset>& cls) {
  cls.def(
         "update",
         [](const Dataset& self, std::vector<std::pair<std::string, std::string>> set,
            nb::handle where, const std::string& strategy, bool dry_run) {
           UpdateOptions options;
           options.set = std::move(set);
           options.where = FilterFromPython(where);
           options.strategy = StrategyFromText(strategy);
           options.dry_run = dry_run;
           auto done = Run([&] { return self.Update(options); });
           return nb::make_tuple(CommitToPython(done.info), done.dataset);
         },
         nb::arg("set"), nb::arg("where").none(), nb::arg("strategy"), nb::arg("dry_run"))
      .def("write_overlay",
           [](const Dataset& self, uint64_t fragment_id, nb::list columns) {
             auto parsed = OverlayColumnsFromPython(columns);
             auto done = Run([&] { return self.WriteOverlay(fragment_id, parsed); });
             return nb::make_tuple(CommitToPython(done.info), done.dataset);
           })
      .def("stage_overlay",
           [](const Dataset& self, uint64_t fragment_id, nb::list columns) {
             auto parsed = OverlayColumnsFromPython(columns);
             return Run([&] { return self.StageOverlay(fragment_id, parsed); });
           })
      .def("commit_overlays", [](const Dataset& self, std::vector<StagedOverlay> staged) {
        auto done = Run([&] { return self.CommitOverlays(staged); });
        return nb::make_tuple(CommitToPython(done.info), done.dataset);
      });
}

}  // namespace

NB_MODULE(_pennon, m) {
  nb::class_<StagedOverlay>(m, "StagedOverlay",
                            "An overlay that is written and not committed yet; see stage_overlay.")
      .def_ro("fragment_id", &StagedOverlay::fragment_id)
      .def_ro("read_version", &StagedOverlay::read_version)
      .def_ro("path", &StagedOverlay::path)
      .def_ro("size_bytes", &StagedOverlay::size_bytes)
      .def_ro("cells", &StagedOverlay::cells)
      .def_ro("dense", &StagedOverlay::dense)
      .def("to_json", &StagedOverlay::ToJson)
      .def_static("from_json",
                  [](const std::string& json) {
                    return Run([&] { return StagedOverlay::FromJson(json); });
                  })
      .def("__repr__", [](const StagedOverlay& self) {
        return "<pennon.StagedOverlay of fragment " + std::to_string(self.fragment_id) +
               ", planned on version " + std::to_string(self.read_version) + ": " + self.path + ">";
      });
  nb::class_<Dataset> cls(m, "Dataset");
  cls.def_static(
         "open",
         [](const std::string& uri, std::optional<uint64_t> version, std::string tag,
            bool map_files) {
           OpenOptions options;
           options.context.map_files = map_files;
           options.version = version;
           options.tag = std::move(tag);
           return Run([&] { return Dataset::Open(uri, options); });
         },
         nb::arg("uri"), nb::arg("version").none(), nb::arg("tag") = "",
         nb::arg("map_files") = false)
      .def_prop_ro("uri", &Dataset::uri)
      .def_prop_ro("version", &Dataset::version)
      .def_prop_ro("schema",
                   [](const Dataset& self) { return SchemaToPython(*self.schema().ToArrow()); })
      .def("io_stats", [](const Dataset& self) {
        IoStats stats = self.TakeIoStats();
        return nb::make_tuple(stats.bytes, stats.requests);
      });
  BindScans(cls);
  BindTakes(cls);
  BindFacts(cls);
  BindWrites(cls);
}

}  // namespace pennon::python
