# cmake -DMARKED=<marked.umd.min.js> -DHIGHLIGHT=<highlight.js/lib> -DOUTPUT=<folder> -P modules.cmake
# Makes the libraries of the chat page, which Debian has as scripts and as CommonJS, into modules of a browser: marked.js
# and highlight.js with the languages below. Each begins with its licence.

# The languages that answers use most, by their names in highlight.js.
set(languages bash cpp cs css diff dockerfile go ini java javascript json kotlin lua makefile markdown perl php powershell
  python r ruby rust scala shell sql swift typescript xml yaml)

# write_module(NAME PACKAGE TEXT)
function(write_module name package text)
  file(READ /usr/share/doc/${package}/copyright licence)
  string(REPLACE "*/" "* /" licence "${licence}")
  file(WRITE ${OUTPUT}/${name} "/* Debian's package ${package}.\n\n${licence}*/\n${text}")
endfunction()

file(READ ${MARKED} text)
write_module(marked.js libjs-marked
  "const exports = {}, module = {};\n${text}\nexport const { Lexer, Tokenizer, getDefaults } = exports;\n")

file(READ ${HIGHLIGHT}/highlight.js text)
set(text "const hljs = (() => {\nconst exports = {}, module = {};\n${text}\nreturn module.exports;\n})();\n")
foreach(language ${languages})
  file(READ ${HIGHLIGHT}/languages/${language}.js rules)
  string(APPEND text
    "hljs.registerLanguage(\"${language}\", (() => {\nconst module = {};\n${rules}\nreturn module.exports;\n})());\n")
endforeach()
# Otherwise it writes a line about its age to the browser's log.
string(APPEND text "hljs.configure({ hideUpgradeWarningAcceptNoSupportOrSecurityUpdates: true });\nexport default hljs;\n")
write_module(highlight.js node-highlight.js "${text}")
