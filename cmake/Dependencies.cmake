# Everything that is not Arrow. Versions and reasons: docs/dependencies in docs/architecture.md.

# Flags of our own code only; imported targets count as SYSTEM and stay silent.
add_library(pennon_flags INTERFACE)
target_compile_options(pennon_flags INTERFACE
  -Wall -Wextra -Werror -Wno-missing-field-initializers -fvisibility=hidden
  # GCC 12 sees an overlap in `"text" + std::string` that is not there (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Clang warns of a call inside std::stable_sort of GCC 12's library; GCC still tells of our own.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(PENNON_FUZZ)
  # Coverage of the code under test, which guides the fuzzer; each target links the fuzzer itself.
  target_compile_options(pennon_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(PENNON_SANITIZE)
  target_compile_options(pennon_flags INTERFACE -fsanitize=${PENNON_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(pennon_flags INTERFACE -fsanitize=${PENNON_SANITIZE})
endif()

# CRoaring 5: Debian's 0.2 accepts broken bitmaps, so `make setup` unpacks the one of PyPI's pyroaring.
add_library(pennon_croaring STATIC "${PENNON_DEPS}/croaring/roaring.c")
target_include_directories(pennon_croaring SYSTEM PUBLIC "${PENNON_DEPS}/croaring")
target_compile_options(pennon_croaring PRIVATE -w -O2)

# protozero (header only), libpg_query (one static library without a CMake file).
find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
find_library(PG_QUERY_LIBRARY NAMES libpg_query.a REQUIRED)
find_path(PG_QUERY_INCLUDE pg_query.h REQUIRED)
add_library(pennon_pg_query INTERFACE)
target_link_libraries(pennon_pg_query INTERFACE "${PG_QUERY_LIBRARY}" Threads::Threads)
target_include_directories(pennon_pg_query SYSTEM INTERFACE "${PG_QUERY_INCLUDE}")
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)

if(PENNON_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()
