# The Debian packages that scripts/package/build makes with CPack: baton, and baton-agents with the shipped agents.
# cmake/install.cmake lists their files; this file has the rest of a package.
set(BATON_MAINTAINER "The maintainers of Baton <baton@localhost>" CACHE STRING "Whom the packages name as maintainer")
set(debian ${PROJECT_SOURCE_DIR}/scripts/package/debian)

# Absolute folders, which `cmake --install` must not write to, are installed only by CPack.
install(FILES scripts/package/baton.json DESTINATION /etc/baton COMPONENT baton EXCLUDE_FROM_ALL)
if(EXISTS ${debian}/copyright)
  install(FILES ${debian}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT baton EXCLUDE_FROM_ALL)
endif()
install(CODE "set(docdir ${CMAKE_INSTALL_DOCDIR})\nset(version ${PROJECT_VERSION})\nset(maintainer \"${BATON_MAINTAINER}\")"
  COMPONENT baton EXCLUDE_FROM_ALL)
install(CODE [[
  # Debian's format requires a changelog of the package; the program's changes are in CHANGELOG.md. The date is
  # SOURCE_DATE_EPOCH, if that is set.
  set(changelog $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${docdir}/changelog)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${changelog} "baton (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n")
  execute_process(COMMAND gzip -9nf ${changelog} COMMAND_ERROR_IS_FATAL ANY)
]] COMPONENT baton EXCLUDE_FROM_ALL)
# baton-agents depends on baton of the same version, and shares its documents.
install(CODE "set(docs ${CMAKE_INSTALL_DATADIR}/doc)" COMPONENT agents EXCLUDE_FROM_ALL)
install(CODE [[
  set(docs $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${docs})
  file(MAKE_DIRECTORY ${docs})
  file(CREATE_LINK baton ${docs}/baton-agents SYMBOLIC)
]] COMPONENT agents EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL baton agents)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "${BATON_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE baton)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

set(CPACK_DEBIAN_BATON_PACKAGE_NAME baton)
set(CPACK_DEBIAN_BATON_PACKAGE_SECTION net)
set(CPACK_DEBIAN_BATON_PACKAGE_SHLIBDEPS ON)
# libpq5 is loaded at run time, so no tool finds it.
set(CPACK_DEBIAN_BATON_PACKAGE_DEPENDS "adduser, libpq5, tzdata")
set(CPACK_DEBIAN_BATON_PACKAGE_RECOMMENDS "baton-agents, ca-certificates")
set(CPACK_DEBIAN_BATON_PACKAGE_SUGGESTS "nodejs, postgresql, python3")
set(CPACK_DEBIAN_BATON_PACKAGE_CONTROL_EXTRA
  ${debian}/conffiles ${debian}/postinst ${debian}/postrm ${debian}/prerm ${debian}/triggers)
set(CPACK_COMPONENT_BATON_DESCRIPTION "durable server for AI agents
Baton serves agents over A2A (all versions), AG-UI and other protocols. An
agent is any program that reads and writes lines. Tasks survive crashes and
restarts: Baton stores them in SQLite, or in a PostgreSQL database that several
servers share.

This package contains the program, the helper libraries for agents in Python
and Node, and a systemd service.")

set(CPACK_DEBIAN_AGENTS_PACKAGE_NAME baton-agents)
set(CPACK_DEBIAN_AGENTS_PACKAGE_SECTION net)
set(CPACK_DEBIAN_AGENTS_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_AGENTS_DEPENDS baton)
set(CPACK_DEBIAN_AGENTS_PACKAGE_DEPENDS "python3, jq")
set(CPACK_COMPONENT_AGENTS_DESCRIPTION "example agents for Baton
Agents to try Baton with and to start your own from: echo, reports on tables of
numbers, approval before an action, the use of tools, a plan over several
agents, and an assistant that asks a language model.")
include(CPack)
