# Finds Arrow C++ inside the pyarrow wheel of the project's Python, and defines
#   Arrow::arrow_shared, ArrowCompute::arrow_compute_shared,
#   Parquet::parquet_shared, ArrowDataset::arrow_dataset_shared.
# Packagers who have an installed Arrow pass -DPENNON_SYSTEM_ARROW=ON; see the top CMakeLists.txt.
if(TARGET Arrow::arrow_shared)
  set(Arrow_FOUND TRUE)
  return()
endif()

execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import os, pyarrow; print(os.path.dirname(pyarrow.__file__)); print(pyarrow.get_include()); print(pyarrow.__version__)"
  OUTPUT_VARIABLE _arrow_facts OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _arrow_result)
if(NOT _arrow_result EQUAL 0)
  message(FATAL_ERROR "pyarrow is not importable by ${Python_EXECUTABLE}; run `make setup` first")
endif()
string(REPLACE "\n" ";" _arrow_facts "${_arrow_facts}")
list(GET _arrow_facts 0 Arrow_LIBRARY_DIR)
list(GET _arrow_facts 1 Arrow_INCLUDE_DIR)
list(GET _arrow_facts 2 Arrow_VERSION)
string(REGEX MATCH "^[0-9]+" _arrow_major "${Arrow_VERSION}")

function(_pennon_arrow_library target name)
  set(_path "${Arrow_LIBRARY_DIR}/lib${name}.so.${_arrow_major}00")
  if(NOT EXISTS "${_path}")
    message(FATAL_ERROR "expected ${_path} in the pyarrow ${Arrow_VERSION} wheel")
  endif()
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${_path}"
    INTERFACE_INCLUDE_DIRECTORIES "${Arrow_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()
_pennon_arrow_library(Arrow::arrow_shared arrow)
_pennon_arrow_library(ArrowCompute::arrow_compute_shared arrow_compute Arrow::arrow_shared)
_pennon_arrow_library(ArrowAcero::arrow_acero_shared arrow_acero ArrowCompute::arrow_compute_shared)
_pennon_arrow_library(Parquet::parquet_shared parquet Arrow::arrow_shared)
_pennon_arrow_library(ArrowDataset::arrow_dataset_shared arrow_dataset ArrowAcero::arrow_acero_shared Parquet::parquet_shared)
set(Arrow_FOUND TRUE)
