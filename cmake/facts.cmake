# Puts the build's facts into the program: its commit, which is looked up in each build, the libraries and the compiler.
# Outside of a Git checkout the commit is "unknown", or the value of BATON_COMMIT, an option or environment variable.
set(BATON_COMMIT "$ENV{BATON_COMMIT}" CACHE STRING "The commit that this is built from; empty: as git says")
set(libraries "SQLite ${SQLite3_VERSION}, OpenSSL ${OPENSSL_VERSION}, cpp-httplib ${httplib_VERSION}, spdlog ${spdlog_VERSION}")
if(BATON_WITH_GRPC)
  string(APPEND libraries ", gRPC ${grpcpp_grpc++_VERSION}")
endif()
set(facts ${PROJECT_BINARY_DIR}/facts/facts.h)
add_custom_target(baton_facts
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR} -DOUTPUT=${facts} "-DCOMMIT=${BATON_COMMIT}"
          "-DLIBRARIES=${libraries}" "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -P ${PROJECT_SOURCE_DIR}/cmake/write_facts.cmake
  BYPRODUCTS ${facts})
baton_compile_alone(src/app/version.cpp)
set_source_files_properties(src/app/version.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/facts)
add_dependencies(baton_app baton_facts)
