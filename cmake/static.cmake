# BATON_STATIC: the program for scripts/package/tarball. It needs the C library only, so that it runs on systems without
# our libraries or with other versions of them. Debian has archives of nearly all of them. spdlog and fmt are compiled
# in from their headers, and so is cpp-httplib, whose package has the declarations only: BATON_HTTPLIB is the folder
# with the header of Debian's source package.
set(BATON_HTTPLIB "" CACHE PATH "With BATON_STATIC: the folder with cpp-httplib's whole header")
if(BATON_TESTS OR NOT EXISTS ${BATON_HTTPLIB}/httplib.h)
  message(FATAL_ERROR "BATON_STATIC needs BATON_TESTS=OFF and BATON_HTTPLIB; scripts/package/tarball sets them")
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
set(PKG_CONFIG_ARGN --static)
# The archives' symbols stay visible to the C library: realpath() and others must allocate with our malloc().
add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed)

pkg_check_modules(spdlog REQUIRED spdlog)
add_library(spdlog::spdlog INTERFACE IMPORTED)
target_compile_definitions(spdlog::spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
pkg_check_modules(httplib REQUIRED cpp-httplib)
add_library(PkgConfig::httplib INTERFACE IMPORTED)
target_include_directories(PkgConfig::httplib INTERFACE ${BATON_HTTPLIB})

# baton_without_c_library(<target>): the C library's own archives, which pkg-config names, must not be linked into the
# program beside the shared C library.
function(baton_without_c_library target)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "(/lib|^-l|^)(m|c|dl|rt|pthread|atomic)([.]a)?$")
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}" INTERFACE_LINK_OPTIONS "")
endfunction()
