# Decides whether this build speaks gRPC: BATON_WITH_GRPC. Debian's gRPC is not instrumented. AddressSanitizer
# sees all of our side of it all the same. ThreadSanitizer does not see what orders gRPC's threads: the unit tests
# of server/grpc/ give 1,304 reports, 23 with ignore_noninstrumented_modules, all of objects that gRPC hands from one
# thread to the next; suppressing its library would hide every callback of ours as well.
set(BATON_WITH_GRPC OFF)
if(BATON_GRPC STREQUAL "ON" OR (BATON_GRPC STREQUAL "AUTO" AND NOT BATON_SANITIZER MATCHES "thread"))
  pkg_check_modules(grpcpp IMPORTED_TARGET grpc++ protobuf)
  find_path(protobuf_parser google/protobuf/compiler/parser.h)
  if(grpcpp_FOUND AND protobuf_parser)
    set(BATON_WITH_GRPC ON)
  elseif(BATON_GRPC STREQUAL "ON")
    message(FATAL_ERROR "BATON_GRPC is ON, but libgrpc++-dev or libprotoc-dev is missing")
  endif()
endif()
message(STATUS "gRPC: ${BATON_WITH_GRPC}")

# The sources that each kind of build leaves out, and the libraries of the three layers that have such sources. Without
# gRPC a server and a channel take the place of the real ones that refuse to start.
set(with_grpc "grpc/a2a_call.cpp" "grpc/call.cpp" "grpc/grpc_server.cpp" "grpc/read_.*.cpp" "grpc/schema.cpp"
  "grpc/struct_json.cpp" "grpc/write_answers.cpp" "grpc_channel.cpp")
set(without_grpc "grpc/absent.cpp" "grpc_absent.cpp")
baton_sources_exist(${with_grpc} ${without_grpc})
if(BATON_WITH_GRPC)
  set(BATON_GRPC_LIBRARIES PkgConfig::grpcpp)
  set(BATON_GRPC_WITHOUT ${without_grpc})
else()
  set(BATON_GRPC_LIBRARIES)
  set(BATON_GRPC_WITHOUT ${with_grpc})
endif()
