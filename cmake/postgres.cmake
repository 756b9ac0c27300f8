# Decides whether this build supports PostgreSQL: BATON_WITH_POSTGRES. A build without it has a store that refuses to
# open.
set(BATON_WITH_POSTGRES OFF)
if(NOT BATON_POSTGRES STREQUAL "OFF")
  pkg_check_modules(libpq IMPORTED_TARGET libpq)
  if(libpq_FOUND)
    set(BATON_WITH_POSTGRES ON)
  elseif(BATON_POSTGRES STREQUAL "ON")
    message(FATAL_ERROR "BATON_POSTGRES is ON, but libpq-dev is missing")
  endif()
endif()
message(STATUS "PostgreSQL: ${BATON_WITH_POSTGRES}")

if(BATON_WITH_POSTGRES)
  # Only the headers: the program loads the library when it uses PostgreSQL (src/store/postgres/lane/libpq.h).
  add_library(baton_libpq INTERFACE)
  target_include_directories(baton_libpq SYSTEM INTERFACE ${libpq_INCLUDE_DIRS})
  target_link_libraries(baton_libpq INTERFACE ${CMAKE_DL_LIBS})
  set(BATON_POSTGRES_LIBRARIES baton_libpq)
  set(BATON_POSTGRES_WITHOUT "postgres/absent.cpp")
else()
  set(BATON_POSTGRES_LIBRARIES)
  # Matches all sources except absent.cpp.
  set(BATON_POSTGRES_WITHOUT "postgres/([^a]|a[^b]).*.cpp")
endif()
