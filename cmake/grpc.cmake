# Decides whether this build has gRPC: BATON_WITH_GRPC. Debian's gRPC is not instrumented. AddressSanitizer still sees
# all of our code that uses it. ThreadSanitizer does not see the synchronisation of gRPC's threads: the unit tests of
# server/grpc/ give 1,304 reports, 23 with ignore_noninstrumented_modules, all about objects that gRPC passes from one
# thread to another. Suppressing the library would also hide all of our callbacks.
set(BATON_WITH_GRPC OFF)
if(BATON_GRPC STREQUAL "ON" OR (BATON_GRPC STREQUAL "AUTO" AND NOT BATON_SANITIZER MATCHES "thread"))
  pkg_check_modules(grpcpp IMPORTED_TARGET grpc++ protobuf)
  find_path(protobuf_parser google/protobuf/compiler/parser.h)
  if(grpcpp_FOUND AND protobuf_parser)
    set(BATON_WITH_GRPC ON)
    if(BATON_STATIC)
      baton_without_c_library(PkgConfig::grpcpp)
    endif()
  elseif(BATON_GRPC STREQUAL "ON")
    message(FATAL_ERROR "BATON_GRPC is ON, but libgrpc++-dev or libprotoc-dev is missing")
  endif()
endif()
message(STATUS "gRPC: ${BATON_WITH_GRPC}")

# The sources that each kind of build leaves out, and the libraries of the three layers that have such sources. A build
# without gRPC has a server and a channel that refuse to start.
set(with_grpc "grpc/a2a_call.cpp" "grpc/call.cpp" "grpc/grpc_server.cpp" "grpc/read_.*.cpp" "grpc/schema.cpp"
  "grpc/struct_json.cpp" "grpc/tls_credentials.cpp" "grpc/write_answers.cpp" "grpc_channel.cpp")
set(without_grpc "grpc/absent.cpp" "grpc_absent.cpp")
baton_sources_exist(${with_grpc} ${without_grpc})
if(BATON_WITH_GRPC)
  set(BATON_GRPC_LIBRARIES PkgConfig::grpcpp)
  set(BATON_GRPC_WITHOUT ${without_grpc})
else()
  set(BATON_GRPC_LIBRARIES)
  set(BATON_GRPC_WITHOUT ${with_grpc})
endif()
