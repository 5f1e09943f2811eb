// SPDX-License-Identifier: Apache-2.0
// Completion for bash and zsh: words of commands, options, and of values where they are known.
#include <string.h>

#include "cli/pages/pages.h"

// Names of plugins, from the program itself when the user asks.
static const char plugins_words[] =
    "$(heliox plugins list 2>/dev/null | sed -n 's/^[a-z]* *[^ ]* (\\([a-z0-9_-]*\\) .*/\\1/p')";

static void put_presets(FILE *to) {
  for (size_t i = 0; i < hx_params_preset_count(); ++i) fprintf(to, "%s%s", i > 0 ? " " : "", hx_params_preset_name(i));
}

static void put_codes(FILE *to) {
  for (int code = HX_CODE_NONE + 1; code < HX_CODE_COUNT; ++code)
    fprintf(to, "%s%s", code > HX_CODE_NONE + 1 ? " " : "", hx_code_info((hx_code_t)code)->word);
}

// Second words of a family.
static void put_family(FILE *to, const char *first, size_t size) {
  const char *before = "";
  for (size_t i = 0; i < pages_command_count; ++i) {
    const char *name = pages_commands[i].name;
    if (pages_first_word(name) != size || strncmp(name, first, size) != 0 || name[size] == '\0') continue;
    fprintf(to, "%s%s", before, name + size + 1);
    before = " ";
  }
}

// ------------------------------------------------------------------ bash

static void bash_kind(FILE *to, pages_kind_t kind, const char *words) {
  switch (kind) {
    case PAGES_NOTHING:
      fputs("return", to);
      break;
    case PAGES_FILE:
      fputs("files=f", to);
      break;
    case PAGES_DIRECTORY:
      fputs("files=d", to);
      break;
    case PAGES_PRESET:
      fputs("files=f; words='", to);
      put_presets(to);
      fputc('\'', to);
      break;
    case PAGES_PLUGIN:
      fprintf(to, "files=f; words=\"%s\"", plugins_words);
      break;
    case PAGES_CODE:
      fputs("words='", to);
      put_codes(to);
      fputc('\'', to);
      break;
    case PAGES_CHOICES:
      fprintf(to, "words='%s'", words);
      break;
  }
}

static void bash_values(FILE *to, const pages_option_t *options, const char *indent) {
  for (; options->name != NULL; ++options) {
    if (options->value == NULL) continue;
    fprintf(to, "%s", indent);
    if (options->letter != 0) fprintf(to, "-%c | ", options->letter);
    fprintf(to, "--%s) ", options->name);
    bash_kind(to, pages_kind(options), pages_choices(options));
    fputs(" ;;\n", to);
  }
}

static void bash_options(FILE *to, const pages_option_t *options) {
  for (; options->name != NULL; ++options) {
    fprintf(to, " --%s", options->name);
    if (options->letter != 0) fprintf(to, " -%c", options->letter);
  }
}

void pages_write_bash(FILE *to) {
  fputs("# Completion of heliox for bash. Made from the table of commands.\n_heliox() {\n", to);
  fputs("  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} first=${COMP_WORDS[1]}\n", to);
  fputs("  local command=$first at=2 options='' words='' files=''\n  COMPREPLY=()\n", to);
  fputs("  # In NAME=FILE the part after the sign is a word of its own.\n", to);
  fputs("  if [ \"$before\" = = ] || [ \"$current\" = = ]; then\n", to);
  fputs("    [ \"$current\" = = ] && current=''\n    COMPREPLY=($(compgen -f -- \"$current\"))\n    return\n  fi\n",
        to);
  fputs("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '", to);
  for (size_t i = 0; i < pages_command_count; ++i) {
    if (pages_starts_family(i))
      fprintf(to, "%.*s ", (int)pages_first_word(pages_commands[i].name), pages_commands[i].name);
  }
  fputs("--help --version' -- \"$current\"))\n    return\n  fi\n  case $first in\n", to);
  for (size_t i = 0; i < pages_command_count; ++i) {
    const char *name = pages_commands[i].name;
    const size_t size = pages_first_word(name);
    if (!pages_starts_family(i) || name[size] == '\0') continue;
    fprintf(to, "    %.*s) words='", (int)size, name);
    put_family(to, name, size);
    fputs("' ;;\n", to);
  }
  fputs("  esac\n  if [ -n \"$words\" ]; then\n    if [ \"$COMP_CWORD\" -eq 2 ]; then\n", to);
  fputs("      COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n      return\n    fi\n", to);
  fputs("    command=\"$first ${COMP_WORDS[2]}\" at=3\n    words=''\n  fi\n  case $command in\n", to);
  for (size_t i = 0; i < pages_command_count; ++i) {
    const pages_command_t *command = &pages_commands[i];
    fprintf(to, "    '%s')\n      options='", command->name);
    bash_options(to, command->options);
    fputs("'\n      case $before in\n", to);
    bash_values(to, command->options, "        ");
    fputs("        *) ", to);
    if (command->arguments_max > 0) {
      bash_kind(to, pages_argument_kind(command), "");
    } else {
      fputc(':', to);
    }
    fputs(" ;;\n      esac\n      ;;\n", to);
  }
  fputs("    *) return ;;\n  esac\n  if [ \"$COMP_CWORD\" -gt \"$at\" ]; then\n    case $before in\n", to);
  bash_values(to, pages_common, "      ");
  fputs("    esac\n  fi\n  if [[ $current == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options", to);
  bash_options(to, pages_common);
  fputs("\" -- \"$current\"))\n    return\n  fi\n", to);
  fputs("  [ -n \"$words\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n", to);
  fputs("  [ -n \"$files\" ] && COMPREPLY+=($(compgen -$files -- \"$current\"))\n  return 0\n}\n", to);
  fputs("complete -o filenames -F _heliox heliox\n", to);
}

// ------------------------------------------------------------------ zsh

// Text within '...[text]' or 'text:...' of an argument's specification.
static void zsh_text(FILE *to, const char *text) {
  for (; *text != '\0'; ++text) {
    if (*text == '\'') {
      fputs("'\\''", to);
    } else {
      if (strchr("[]:\\", *text) != NULL) fputc('\\', to);
      fputc(*text, to);
    }
  }
}

static void zsh_kind(FILE *to, pages_kind_t kind, const char *words) {
  switch (kind) {
    case PAGES_NOTHING:
      fputc(' ', to);
      break;
    case PAGES_FILE:
      fputs("_files", to);
      break;
    case PAGES_DIRECTORY:
      fputs("_files -/", to);
      break;
    case PAGES_PRESET:
      fputs("_heliox_presets", to);
      break;
    case PAGES_PLUGIN:
      fputs("_heliox_plugins", to);
      break;
    case PAGES_CODE:
      fputc('(', to);
      put_codes(to);
      fputc(')', to);
      break;
    case PAGES_CHOICES:
      fprintf(to, "(%s)", words);
      break;
  }
}

// "*": an option that may be repeated; zsh then offers it again.
static bool is_repeated(const pages_option_t *option) { return strstr(option->doc, "may be repeated") != NULL; }

static void zsh_options(FILE *to, const pages_option_t *options) {
  for (; options->name != NULL; ++options) {
    const char *star = is_repeated(options) ? "*" : "";
    if (options->letter != 0 && star[0] == '\0') {
      fprintf(to, "        '(-%c --%s)'{-%c,--%s}'[", options->letter, options->name, options->letter, options->name);
    } else if (options->letter != 0) {
      fprintf(to, "        '*'{-%c,--%s}'[", options->letter, options->name);
    } else {
      fprintf(to, "        '%s--%s[", star, options->name);
    }
    zsh_text(to, options->doc);
    fputc(']', to);
    if (options->value != NULL) {
      fputc(':', to);
      zsh_text(to, options->value);
      fputc(':', to);
      zsh_kind(to, pages_kind(options), pages_choices(options));
    }
    fputs("' \\\n", to);
  }
}

static void zsh_describe(FILE *to, const char *first, size_t size) {
  for (size_t i = 0; i < pages_command_count; ++i) {
    const char *name = pages_commands[i].name;
    const size_t own = pages_first_word(name);
    if (first == NULL ? !pages_starts_family(i) : own != size || strncmp(name, first, size) != 0 || name[own] == '\0')
      continue;
    if (first == NULL) {
      fprintf(to, "'%.*s:", (int)own, name);
      if (name[own] != '\0') {
        fprintf(to, "%.*s ...' ", (int)own, name);
        continue;
      }
    } else {
      fprintf(to, "'%s:", name + size + 1);
    }
    zsh_text(to, pages_commands[i].summary);
    fputs("' ", to);
  }
}

void pages_write_zsh(FILE *to) {
  fputs("#compdef heliox\n# Completion of heliox for zsh. Made from the table of commands.\n", to);
  fputs("_heliox_presets() {\n  compadd -- ", to);
  put_presets(to);
  fprintf(to, "\n  _files\n}\n_heliox_plugins() {\n  compadd -- %s\n  _files\n}\n", plugins_words);
  fputs("_heliox() {\n  local command=$words[2]\n  local -a described\n  if (( CURRENT == 2 )); then\n    described=(",
        to);
  zsh_describe(to, NULL, 0);
  fputs(")\n    _describe command described\n    compadd -- --help --version\n    return\n  fi\n  case $command in\n",
        to);
  for (size_t i = 0; i < pages_command_count; ++i) {
    const char *name = pages_commands[i].name;
    const size_t size = pages_first_word(name);
    if (!pages_starts_family(i) || name[size] == '\0') continue;
    fprintf(to, "    %.*s)\n      if (( CURRENT == 3 )); then\n        described=(", (int)size, name);
    zsh_describe(to, name, size);
    fputs(
        ")\n        _describe command described\n        return\n      fi\n      command=\"$command $words[3]\"\n"
        "      shift words\n      (( CURRENT -= 1 ))\n      ;;\n",
        to);
  }
  fputs("  esac\n  shift words\n  (( CURRENT -= 1 ))\n  case $command in\n", to);
  for (size_t i = 0; i < pages_command_count; ++i) {
    const pages_command_t *command = &pages_commands[i];
    fprintf(to, "    '%s')\n      _arguments \\\n", command->name);
    zsh_options(to, command->options);
    zsh_options(to, pages_common);
    if (command->arguments_max > 0) {
      fputs("        '*:", to);
      zsh_text(to, command->arguments);
      fputc(':', to);
      zsh_kind(to, pages_argument_kind(command), "");
      fputc('\'', to);
    }
    fputs("\n      ;;\n", to);
  }
  fputs("  esac\n}\n_heliox \"$@\"\n", to);
}
