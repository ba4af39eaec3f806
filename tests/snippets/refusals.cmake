# What extract_snippets must refuse of a page, and what it must find: cmake -D extract=... -D folder=... -P refusals.cmake
# SPDX-License-Identifier: Apache-2.0
set(fence "```")

function(expect_of name page wanted)
  file(WRITE "${folder}/${name}.md" "${page}")
  execute_process(COMMAND "${extract}" "${folder}/${name}.md" "${name}.md" "${folder}/${name}.cpp"
    RESULT_VARIABLE status ERROR_VARIABLE text)
  if(wanted AND NOT text MATCHES "${wanted}")
    message(SEND_ERROR "${name}: expected a refusal that says ${wanted}, found: ${text}")
  elseif(NOT wanted AND NOT status EQUAL 0)
    message(SEND_ERROR "${name}: refused: ${text}")
  endif()
endfunction()

expect_of(no_reason "<!-- snippet: not compiled: -->\n${fence}cpp\nint i\n${fence}\n" "no_reason.md:1: unknown")
expect_of(misspelt "<!-- snippet: continued -->\n${fence}cpp\nint i\n${fence}\n" "misspelt.md:1: unknown")
expect_of(no_end "${fence}cpp\nint i\n" "no_end.md:3: a block has no end")
expect_of(no_table "<!-- snippet: table -->\ntext\n" "a table that does not follow")
expect_of(other_table "<!-- snippet: table -->\n| a | b |\n|---|---|\n" "no column of this table")
expect_of(nothing_before "<!-- snippet: continues -->\n${fence}cpp\nint i\n${fence}\n" "nothing to continue")

set(page "${fence}cpp\nstd::cout << 1\n${fence}\n\nprints\n\n${fence}text\n1\n${fence}\n")
expect_of(whole "${page}<!-- snippet: not compiled: a reason -->\n${fence}cpp\nint i\n${fence}\n" "")
file(READ "${folder}/whole.cpp" program)
if(NOT program MATCHES "snippets::compare\\(2, " OR NOT program MATCHES "{1, 1, 1, 0, 0, 1}")
  message(SEND_ERROR "expected a snippet that is compiled, run and compared, and one that is not compiled: ${program}")
endif()
