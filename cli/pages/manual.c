// SPDX-License-Identifier: Apache-2.0
// Manual pages: heliox.1, one a command, heliox-codes.7.
#include <errno.h>
#include <string.h>

#include "cli/pages/pages.h"

// Text as roff prints it: a hyphen that is a minus, a backslash, a line that begins like a request.
static void put_text(FILE *to, const char *text) {
  if (text[0] == '.' || text[0] == '\'') fputs("\\&", to);
  for (; *text != '\0'; ++text) {
    if (*text == '\\') {
      fputs("\\e", to);
    } else if (*text == '-') {
      fputs("\\-", to);
    } else if (*text == '"') {
      fputs("\\(dq", to);
    } else {
      fputc(*text, to);
    }
  }
}

static void put_heading(FILE *to, const char *name) { fprintf(to, ".SH %s\n", name); }

// "heliox-plugins-list" of "plugins list".
static void name_page(const char *command, char *out, size_t room) {
  snprintf(out, room, "heliox-%s", command);
  for (char *at = out; *at != '\0'; ++at) {
    if (*at == ' ') *at = '-';
  }
}

static void put_title(FILE *to, const char *name, const char *section) {
  fputs(".\\\" Made from the table of commands.\n.TH ", to);
  for (const char *at = name; *at != '\0'; ++at) fputc(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, to);
  fprintf(to, " %s \"\" \"Heliox %s\" \"Heliox\"\n", section, hx_version());
}

// A summary as the NAME section has it: the first sentence without its full stop and its capital.
static void put_summary(FILE *to, const char *summary) {
  char text[512];
  snprintf(text, sizeof text, "%s", summary);
  const size_t size = strlen(text);
  if (size > 0 && text[size - 1] == '.') text[size - 1] = '\0';
  if (text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z')) text[0] = (char)(text[0] - 'A' + 'a');
  put_text(to, text);
}

static void put_options(FILE *to, const pages_option_t *options) {
  for (; options->name != NULL; ++options) {
    fputs(".TP\n", to);
    if (options->letter != 0) fprintf(to, "\\fB\\-%c\\fR, ", options->letter);
    fputs("\\fB\\-\\-", to);
    put_text(to, options->name);
    fputs("\\fR", to);
    if (options->value != NULL) {
      fputs(" \\fI", to);
      put_text(to, options->value);
      fputs("\\fR", to);
    }
    fputc('\n', to);
    put_text(to, options->doc);
    fputs(".\n", to);
  }
}

static void put_exit_status(FILE *to) {
  put_heading(to, "EXIT STATUS");
  fputs(
      "0 done; 1 the answer is no (refused, differs, failed check, backend absent); 2 bad usage; 3 input or file "
      "error; "
      "70 internal error.\n",
      to);
}

static void put_see_also(FILE *to, const pages_command_t *except) {
  put_heading(to, "SEE ALSO");
  const char *before = "";
  if (except != NULL) {
    fputs(".BR heliox (1),\n", to);
    const size_t family = pages_first_word(except->name);
    for (size_t i = 0; i < pages_command_count; ++i) {
      const pages_command_t *other = &pages_commands[i];
      // Names that begin alike are as long as what they share, so the place behind it may be looked at.
      if (other == except || except->name[family] != ' ' || strncmp(other->name, except->name, family) != 0 ||
          other->name[family] != ' ')
        continue;
      char page[64];
      name_page(other->name, page, sizeof page);
      fputs(".BR ", to);
      put_text(to, page);
      fputs(" (1),\n", to);
    }
  }
  fprintf(to, "%s.BR heliox\\-codes (7)\n", before);
}

static void write_command(FILE *to, const pages_command_t *command) {
  char page[64];
  name_page(command->name, page, sizeof page);
  put_title(to, page, "1");
  put_heading(to, "NAME");
  put_text(to, page);
  fputs(" \\- ", to);
  put_summary(to, command->summary);
  fputc('\n', to);
  put_heading(to, "SYNOPSIS");
  fputs("\\fBheliox ", to);
  put_text(to, command->name);
  fputs("\\fR", to);
  if (command->arguments[0] != '\0') {
    fputs(" \\fI", to);
    put_text(to, command->arguments);
    fputs("\\fR", to);
  }
  fputs(" [\\fIOPTION\\fR]...\n", to);
  put_heading(to, "DESCRIPTION");
  put_text(to, command->summary);
  fputc('\n', to);
  if (command->options->name != NULL) {
    put_heading(to, "OPTIONS");
    put_options(to, command->options);
  }
  put_heading(to, "COMMON OPTIONS");
  put_options(to, pages_common);
  put_exit_status(to);
  put_see_also(to, command);
}

static void write_main(FILE *to) {
  put_title(to, "heliox", "1");
  put_heading(to, "NAME");
  fputs("heliox \\- computing on encrypted numbers, on whatever backend is plugged in\n", to);
  put_heading(to, "SYNOPSIS");
  fputs("\\fBheliox\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]... [\\fIOPTION\\fR]...\n", to);
  put_heading(to, "DESCRIPTION");
  fputs(
      "Heliox computes on numbers that are encrypted with the CKKS scheme. A program is written once and runs on a "
      "plugin: a shared library that comes with a manifest and is checked before a byte of it runs. Results are "
      "printed "
      "on standard output, progress and errors on standard error.\n",
      to);
  put_heading(to, "COMMANDS");
  for (size_t i = 0; i < pages_command_count; ++i) {
    fputs(".TP\n\\fB", to);
    put_text(to, pages_commands[i].name);
    fputs("\\fR", to);
    if (pages_commands[i].arguments[0] != '\0') {
      fputs(" \\fI", to);
      put_text(to, pages_commands[i].arguments);
      fputs("\\fR", to);
    }
    fputc('\n', to);
    put_text(to, pages_commands[i].summary);
    fputc('\n', to);
  }
  put_heading(to, "OPTIONS OF EVERY COMMAND");
  put_options(to, pages_common);
  put_heading(to, "ENVIRONMENT");
  for (size_t i = 0; i < pages_variable_count; ++i) {
    fputs(".TP\n\\fB", to);
    put_text(to, pages_variables[i].name);
    fputs("\\fR\n", to);
    put_text(to, pages_variables[i].doc);
    fputc('\n', to);
  }
  put_heading(to, "FILES");
  fputs(
      ".TP\n\\fIlib/heliox/plugins\\fR beside the library\nplugins and their manifests\n.TP\n"
      "\\fI~/.config/heliox/plugins.d\\fR, \\fI/etc/xdg/heliox/plugins.d\\fR, \\fI~/.local/share/heliox/plugins.d\\fR\n"
      "more of them\n.TP\n\\fI/etc/heliox/trust\\fR, \\fI~/.config/heliox/trust\\fR\npublic keys of vendors whose "
      "signatures count\n.TP\n\\fI~/.cache/heliox\\fR\nself\\-tests that devices have passed, compiled kernels\n",
      to);
  put_exit_status(to);
  put_heading(to, "SEE ALSO");
  for (size_t i = 0; i < pages_command_count; ++i) {
    char page[64];
    name_page(pages_commands[i].name, page, sizeof page);
    fputs(".BR ", to);
    put_text(to, page);
    fputs(" (1),\n", to);
  }
  fputs(".BR heliox\\-codes (7)\n", to);
}

static void write_codes(FILE *to) {
  put_title(to, "heliox-codes", "7");
  put_heading(to, "NAME");
  fputs("heliox\\-codes \\- what the codes of Heliox's messages mean and what to do\n", to);
  put_heading(to, "DESCRIPTION");
  fputs(
      "Every refusal and error has a code that stays the same between versions: \\fBerror[\\fICODE\\fB]\\fR on "
      "standard "
      "error, \\fIcode\\fR in JSON. \\fBheliox explain\\fR \\fICODE\\fR prints what is below.\n",
      to);
  for (int code = HX_CODE_NONE + 1; code < HX_CODE_COUNT; ++code) {
    const hx_code_info_t *info = hx_code_info((hx_code_t)code);
    fputs(".TP\n\\fB", to);
    put_text(to, info->word);
    fputs("\\fR\n", to);
    put_text(to, info->meaning);
    fputc('\n', to);
    put_text(to, info->remedy);
    if (info->gate != HX_GATE_NONE) {
      fputs("\nA gate of plugins: ", to);
      put_text(to, hx_gate_name(info->gate));
      fputc('.', to);
    }
    fputc('\n', to);
  }
  put_heading(to, "SEE ALSO");
  fputs(".BR heliox (1),\n.BR heliox\\-explain (1)\n", to);
}

static FILE *open_page(const char *directory, const char *name, int section) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", directory, name, section);
  FILE *file = fopen(path, "w");
  if (file == NULL) fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return file;
}

static bool close_page(FILE *file) {
  const bool written = ferror(file) == 0;
  return fclose(file) == 0 && written;
}

bool pages_write_manual(const char *directory) {
  FILE *file = open_page(directory, "heliox", 1);
  if (file == NULL) return false;
  write_main(file);
  bool done = close_page(file);
  for (size_t i = 0; done && i < pages_command_count; ++i) {
    char page[64];
    name_page(pages_commands[i].name, page, sizeof page);
    file = open_page(directory, page, 1);
    if (file == NULL) return false;
    write_command(file, &pages_commands[i]);
    done = close_page(file);
  }
  file = done ? open_page(directory, "heliox-codes", 7) : NULL;
  if (file == NULL) return false;
  write_codes(file);
  return close_page(file);
}
