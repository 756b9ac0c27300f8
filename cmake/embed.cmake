# cmake -DSCHEMA=<schema folder> -DCONSOLE=<console folder> -DMODULES=<modules folder> -DTEMPLATES=<templates folder>
#   -DAGENTS=<agents folder> -DOUTPUT=<file.cpp> -P embed.cmake
# Writes the files of schema/, those of the console and the modules (cmake/modules.cmake) as "console/<name>", those of
# `baton init` as "templates/<name>", the shipped agents as "share/agent-cards/<name>" and the libraries for agents as
# "share/lib/<name>" as a C++ source (see src/base/embedded.h). Raw string literals are limited in length by compilers,
# so each file is a list of
# literals of a bounded size.
file(GLOB_RECURSE schema_files RELATIVE ${SCHEMA} ${SCHEMA}/*.sql ${SCHEMA}/*.json ${SCHEMA}/*.proto)
file(GLOB console_files RELATIVE ${CONSOLE} ${CONSOLE}/*.html ${CONSOLE}/*.js ${CONSOLE}/*.css ${CONSOLE}/*.svg)
list(TRANSFORM console_files PREPEND console/)
set(module_files console/highlight.js console/marked.js)
# The client of the Node library is served beside the chat page, too.
list(APPEND module_files console/ag-ui.js)
file(GLOB_RECURSE template_files RELATIVE ${TEMPLATES} ${TEMPLATES}/*)
list(TRANSFORM template_files PREPEND templates/)
# Each shipped agent is a folder with a card; lib/ is beside them.
file(GLOB_RECURSE shared_files RELATIVE ${AGENTS} ${AGENTS}/lib/* ${AGENTS}/*/*)
list(FILTER shared_files EXCLUDE REGEX "^templates/|__pycache__|node_modules|[.]egg-info|^lib/[a-z]+/(build|dist)/")
list(TRANSFORM shared_files PREPEND share/agent-cards/)
list(TRANSFORM shared_files REPLACE "^share/agent-cards/lib/" "share/lib/")
set(files ${shared_files} ${schema_files} ${console_files} ${module_files} ${template_files})
list(SORT files)
set(text "#include \"base/embedded.h\"\n\nnamespace baton::base {\n\nconst std::vector<EmbeddedFile>& embedded_files() {\n  static const std::vector<EmbeddedFile> files{\n")
foreach(name ${files})
  string(REGEX REPLACE "^console/(highlight|marked)" "${MODULES}/\\1" path "${name}")
  string(REGEX REPLACE "^console/ag-ui[.]js$" "${AGENTS}/lib/node/baton/ag-ui.mjs" path "${path}")
  string(REGEX REPLACE "^console/" "${CONSOLE}/" path "${path}")
  string(REGEX REPLACE "^templates/" "${TEMPLATES}/" path "${path}")
  string(REGEX REPLACE "^share/lib/" "${AGENTS}/lib/" path "${path}")
  string(REGEX REPLACE "^share/agent-cards/" "${AGENTS}/" path "${path}")
  if(path STREQUAL name)
    set(path ${SCHEMA}/${name})
  endif()
  file(READ ${path} content)
  string(LENGTH "${content}" length)
  string(APPEND text "    {\"${name}\", ")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${content}" ${at} 8000 piece)
    string(APPEND text "R\"BATON(${piece})BATON\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND text "\"\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\nstd::string_view embedded_file(std::string_view name) {\n  for (const EmbeddedFile& file : embedded_files()) {\n    if (file.name == name) return file.text;\n  }\n  return {};\n}\n\n}  // namespace baton::base\n")
file(WRITE ${OUTPUT} "${text}")
