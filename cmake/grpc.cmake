# Decides whether this build speaks gRPC: BATON_WITH_GRPC. Debian's gRPC is not instrumented. AddressSanitizer
# sees all of our side of it all the same. ThreadSanitizer does not see what orders gRPC's threads: the unit tests
# of grpc/ give 1,304 reports, 23 with ignore_noninstrumented_modules, all of objects that gRPC hands from one
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

# Without gRPC the layer is what needs no library, and a server that refuses to start.
function(baton_grpc_layer)
  if(BATON_WITH_GRPC)
    baton_layer(grpc DEPENDS server wire task base PRIVATE spdlog::spdlog PkgConfig::grpcpp
      WITHOUT "absent/.*")
  else()
    baton_layer(grpc DEPENDS server wire task base WITHOUT "a2a_call.cpp" "call.cpp" "channel.cpp"
      "grpc_server.cpp" "proto_json.cpp" "read_.*.cpp" "schema.cpp" "struct_json.cpp" "write_answers.cpp")
  endif()
endfunction()
