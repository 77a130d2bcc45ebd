# muster_group_sources(<target>)
#
# The files of a room are compiled together, a few at a time: most of what a compiler does for one of
# them is headers and templates that its neighbours need too, and it takes two thirds off a full build.
# Two files may give the same name to something of their own; they are put into different groups, so
# that nobody has to think of it. Every file still includes what it uses: the presets `mutate` and
# `coverage` compile each file alone and so check that; the others compile groups.
option(MUSTER_GROUP_SOURCES "Compile the files of a room together, a few at a time" OFF)
set(MUSTER_GROUP_FILES 8)  # more save little, and an edit recompiles its group

# What a file defines, and what it takes by `using` from elsewhere (files may take the same), by a look at its lines
# rather than by parsing: a name too many costs a group, and a name that is missed a compiler's error that says so.
function(muster_names_of source defined taken)
  file(READ ${source} text)
  string(REPLACE "[]" "" text "${text}")
  string(REGEX MATCHALL "\nusing [A-Za-z0-9_:]+::[A-Za-z0-9_]+" uses "${text}")
  string(REGEX MATCHALL "\n *(struct|class|enum class|enum) [A-Za-z0-9_]+" types "${text}")
  string(REGEX MATCHALL "\n[A-Za-z][A-Za-z0-9_:<>,&* ]*[ &*][A-Za-z0-9_]+( =|[({])" values "${text}")
  string(REGEX MATCHALL "\n +(static )?(const|constexpr) [A-Za-z0-9_:<>,&* ]*[ &*]k[A-Z][A-Za-z0-9_]*( =|[({])"
         constants "${text}")
  list(APPEND values ${constants})
  list(FILTER values EXCLUDE REGEX "^\n(namespace|struct|class|enum) ")
  list(TRANSFORM uses REPLACE ".*:" "")
  list(TRANSFORM types REPLACE ".* " "")
  list(TRANSFORM values REPLACE ".*[ &*]([A-Za-z0-9_]+)( =|[({])$" "\\1")
  set(names ${types} ${values})
  list(REMOVE_DUPLICATES names)
  set(${defined} "${names}" PARENT_SCOPE)
  set(${taken} "${uses}" PARENT_SCOPE)
endfunction()

# Whether no name occurs twice: neither in two lists of definitions, nor in a definition and a name taken.
function(muster_names_differ out defined taken)
  list(REMOVE_DUPLICATES taken)
  set(all ${defined} ${taken})
  list(LENGTH all total)
  list(REMOVE_DUPLICATES all)
  list(LENGTH all different)
  if(total EQUAL different)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

function(muster_group_sources target)
  if(NOT MUSTER_GROUP_SOURCES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_CLANG_TIDY)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  endif()
  get_target_property(sources ${target} SOURCES)
  set(groups 0)
  foreach(source IN LISTS sources)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    file(STRINGS ${path} macros REGEX "^#(define|undef) ")
    if(macros)
      continue()  # its macros would be its neighbours'
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    muster_names_of(${path} defined taken)
    set(group 0)
    while(group LESS groups)
      list(LENGTH files_${group} count)
      muster_names_differ(fits "${defined_${group}};${defined}" "${taken_${group}};${taken}")
      if(fits AND count LESS MUSTER_GROUP_FILES)
        break()
      endif()
      math(EXPR group "${group} + 1")
    endwhile()
    if(group EQUAL groups)
      math(EXPR groups "${groups} + 1")
    endif()
    list(APPEND files_${group} ${source})
    list(APPEND defined_${group} ${defined})
    list(APPEND taken_${group} ${taken})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
endfunction()
