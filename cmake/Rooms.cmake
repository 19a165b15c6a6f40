# pennon_room(NAME [TSAN] DEPS rooms... SOURCES files... LINK targets... TESTS files...)
# One static library and one test executable a room; with TSAN its tests are among those of `make tsan`.
# A room may only name rooms of a lower rank (scripts/check_rooms.py holds the ranks); the libraries are
# internal and meet in pennon::pennon.
function(pennon_room name)
  cmake_parse_arguments(ROOM "TSAN" "" "DEPS;SOURCES;LINK;TESTS;TEST_LINK" ${ARGN})
  set(target pennon_${name})
  add_library(${target} STATIC ${ROOM_SOURCES})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/src")
  list(TRANSFORM ROOM_DEPS PREPEND pennon_)
  target_link_libraries(${target} PUBLIC ${ROOM_DEPS} Arrow::arrow_shared ${ROOM_LINK} PRIVATE pennon_flags)
  set_property(GLOBAL APPEND PROPERTY PENNON_ROOMS ${target})
  if(PENNON_TESTS AND ROOM_TESTS)
    add_executable(${target}_test ${ROOM_TESTS})
    target_link_libraries(${target}_test PRIVATE ${target} ${ROOM_TEST_LINK} pennon_flags
      GTest::gtest GTest::gmock GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${target}_test)
    set(labels unit)
    if(ROOM_TSAN)
      list(APPEND labels tsan)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" FIXTURES_REQUIRED fixtures
      ENVIRONMENT "ARROW_DEFAULT_MEMORY_POOL=system;PENNON_SOURCE_DIR=${CMAKE_SOURCE_DIR};PENNON_FIXTURES=${PENNON_FIXTURES}")
  endif()
endfunction()

# The tables of testdata/fixtures.tar.xz, unpacked before the first test that may want them.
set(PENNON_FIXTURES "${CMAKE_SOURCE_DIR}/build/fixtures")
if(PENNON_TESTS)
  add_test(NAME unpack_fixtures
    COMMAND ${Python_EXECUTABLE} "${CMAKE_SOURCE_DIR}/scripts/unpack_fixtures.py")
  set_tests_properties(unpack_fixtures PROPERTIES FIXTURES_SETUP fixtures LABELS "unit;tsan")
endif()
