// SPDX-License-Identifier: Apache-2.0
// How rows of commands.def write their options, as initialisers of a name, a letter, a value and a sentence each, with
// an empty one at the end.
#ifndef HELIOX_CLI_OPTION_ROWS_H
#define HELIOX_CLI_OPTION_ROWS_H

#define OPTIONS(...)                     \
  {                                      \
    __VA_ARGS__, { NULL, 0, NULL, NULL } \
  }
#define NO_OPTIONS          \
  {                         \
    { NULL, 0, NULL, NULL } \
  }
#define OPTION(name_, letter_, value_, doc_) \
  { (name_), (letter_), (value_), (doc_) }

#endif
