// SPDX-License-Identifier: Apache-2.0
// heliox-pages man DIR | bash | zsh | table: documents of the command line, from commands.def, common.def,
// variables.def.
#include <string.h>

#include "cli/option_rows.h"
#include "cli/pages/pages.h"

#define COMMAND(id_, name_, arguments_, summary_, min_, max_, options_) \
  static const pages_option_t options_of_##id_[] = options_;
#include "cli/commands.def"

const pages_command_t pages_commands[] = {
#define COMMAND(id_, name_, arguments_, summary_, min_, max_, options_) \
  {(name_), (arguments_), (summary_), (max_), options_of_##id_},
#include "cli/commands.def"
};
const size_t pages_command_count = sizeof pages_commands / sizeof *pages_commands;

const pages_option_t pages_common[] = {
#define OPTION_ROW(name_, letter_, value_, doc_) {(name_), (letter_), (value_), (doc_)},
#include "cli/common.def"
    {NULL, 0, NULL, NULL},
};

const pages_variable_t pages_variables[] = {
#define VARIABLE(name_, doc_) {(name_), (doc_)},
#include "cli/variables.def"
};
const size_t pages_variable_count = sizeof pages_variables / sizeof *pages_variables;

// Values of an option that are one of few words.
static const struct {
  const char *option, *choices;
} choices[] = {{"tier", "primitives fused ckks all"},
               {"suite", "micro ckks bandwidth"},
               {"clock", "wall cpu"},
               {"as", "dot svg html eager-c host-c backend-c"},
               {"signatures", "off warn require"},
               {"log", "error warning info debug"},
               {"word", "64 32"}};

const char *pages_choices(const pages_option_t *option) {
  for (size_t i = 0; i < sizeof choices / sizeof *choices; ++i) {
    if (strcmp(choices[i].option, option->name) == 0) return choices[i].choices;
  }
  return "";
}

pages_kind_t pages_kind(const pages_option_t *option) {
  static const char *const files[] = {"F", "FILE", "X", "NAME=F", "F|NAME=F", "PROGRAM"};
  if (option->value == NULL) return PAGES_NOTHING;
  if (pages_choices(option)[0] != '\0') return PAGES_CHOICES;
  if (strcmp(option->value, "DIR") == 0 || strcmp(option->name, "dir") == 0) return PAGES_DIRECTORY;
  if (strcmp(option->name, "params") == 0) return PAGES_PRESET;
  if (strcmp(option->name, "backend") == 0 || strcmp(option->name, "backends") == 0) return PAGES_PLUGIN;
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    if (strcmp(option->value, files[i]) == 0) return PAGES_FILE;
  }
  return PAGES_NOTHING;
}

pages_kind_t pages_argument_kind(const pages_command_t *command) {
  if (command->arguments_max == 0) return PAGES_NOTHING;
  if (strcmp(command->name, "explain") == 0) return PAGES_CODE;
  if (strcmp(command->name, "params show") == 0) return PAGES_PRESET;
  if (strcmp(command->name, "plugins show") == 0 || strcmp(command->name, "plugins test") == 0) return PAGES_PLUGIN;
  return PAGES_FILE;
}

size_t pages_first_word(const char *name) { return strcspn(name, " "); }

bool pages_starts_family(size_t index) {
  const size_t size = pages_first_word(pages_commands[index].name);
  for (size_t i = 0; i < index; ++i) {
    if (pages_first_word(pages_commands[i].name) == size &&
        strncmp(pages_commands[i].name, pages_commands[index].name, size) == 0)
      return false;
  }
  return true;
}

void pages_write_table(FILE *to) {
  for (size_t i = 0; i < pages_command_count; ++i) {
    fprintf(to, "%s\n", pages_commands[i].name);
    const pages_option_t *const lists[] = {pages_commands[i].options, pages_common};
    for (size_t k = 0; k < 2; ++k) {
      for (const pages_option_t *option = lists[k]; option->name != NULL; ++option)
        fprintf(to, "%s\t--%s\n", pages_commands[i].name, option->name);
    }
  }
}

int main(int argc, char **argv) {
  bool done = true;
  if (argc == 3 && strcmp(argv[1], "man") == 0) {
    done = pages_write_manual(argv[2]);
  } else if (argc == 2 && strcmp(argv[1], "bash") == 0) {
    pages_write_bash(stdout);
  } else if (argc == 2 && strcmp(argv[1], "zsh") == 0) {
    pages_write_zsh(stdout);
  } else if (argc == 2 && strcmp(argv[1], "table") == 0) {
    pages_write_table(stdout);
  } else {
    fputs("usage: heliox-pages man DIR | bash | zsh | table\n", stderr);
    return 2;
  }
  return done && fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
}
