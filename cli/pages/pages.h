// SPDX-License-Identifier: Apache-2.0
// What is made of the table of commands at build time: manual pages, completion for shells.
#ifndef HELIOX_CLI_PAGES_PAGES_H
#define HELIOX_CLI_PAGES_PAGES_H

#include <stdbool.h>
#include <stdio.h>

#include "heliox/heliox.h"

typedef struct pages_option {
  const char *name;  // NULL ends a list
  char letter;       // or 0
  const char *value;
  const char *doc;
} pages_option_t;

typedef struct pages_command {
  const char *name, *arguments, *summary;
  int arguments_max;
  const pages_option_t *options;
} pages_command_t;

typedef struct pages_variable {
  const char *name, *doc;
} pages_variable_t;

extern const pages_command_t pages_commands[];
extern const size_t pages_command_count;
extern const pages_option_t pages_common[];
extern const pages_variable_t pages_variables[];
extern const size_t pages_variable_count;

// What completion offers for a value.
typedef enum pages_kind {
  PAGES_NOTHING,  // a number or a text of one's own
  PAGES_FILE,
  PAGES_DIRECTORY,
  PAGES_PRESET,   // a parameter preset, or a file
  PAGES_PLUGIN,   // a plugin's name, or a file
  PAGES_CODE,     // a word of `heliox explain`
  PAGES_CHOICES,  // those of pages_choices
} pages_kind_t;
// Of an option's value; of a command's arguments.
pages_kind_t pages_kind(const pages_option_t *option);
pages_kind_t pages_argument_kind(const pages_command_t *command);
// Words separated by blanks, "" where there are none.
const char *pages_choices(const pages_option_t *option);

// The first word of "plugins list" alone, and whether the command before has the same.
size_t pages_first_word(const char *name);
bool pages_starts_family(size_t index);

// Every page into a directory; true if all were written.
bool pages_write_manual(const char *directory);
void pages_write_bash(FILE *to);
void pages_write_zsh(FILE *to);
// "COMMAND<TAB>OPTION" of every option, and "COMMAND" of every command: what tests compare completion with.
void pages_write_table(FILE *to);

#endif
