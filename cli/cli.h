// SPDX-License-Identifier: Apache-2.0
// The command line: one table of commands and options (commands.def), from which parsing and help come.
#ifndef HELIOX_CLI_CLI_H
#define HELIOX_CLI_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "heliox/heliox.h"

// Exit codes (docs/command-line.md).
enum { CLI_DONE = 0, CLI_NO = 1, CLI_USAGE = 2, CLI_INPUT = 3, CLI_INTERNAL = 70 };

typedef struct cli_option {
  const char *name;   // long name; NULL ends a list
  char letter;        // short form, or 0
  const char *value;  // name of its value in help, or NULL for a flag
  const char *doc;
} cli_option_t;

struct cli;
typedef struct cli_command {
  const char *name;       // "plugins list": one or two words
  const char *arguments;  // "PROGRAM"
  const char *summary;
  int arguments_min, arguments_max;
  const cli_option_t *options;
  int (*run)(struct cli *cli);
} cli_command_t;

#define CLI_OPTIONS_MAX 64

// One parsed command line.
typedef struct cli {
  const cli_command_t *command;
  hx_report_t *report;
  char **arguments;
  int argument_count;
  struct {
    const char *name;
    const char *value;
  } given[CLI_OPTIONS_MAX];
  int given_count;
  bool json, quiet, insecure;
  bool is_silent;  // another rank speaks on standard output
  int verbose;
} cli_t;

extern const cli_command_t cli_commands[];
extern const size_t cli_command_count;

// Last value of an option, or NULL; whether it was given.
const char *cli_get(const cli_t *cli, const char *name);
bool cli_has(const cli_t *cli, const char *name);
// i-th value of an option that may be repeated, or NULL.
const char *cli_get_at(const cli_t *cli, const char *name, int index);
// A non-negative number below `limit`; usage fault otherwise. Returns `missing` where the option is absent.
hx_status_t cli_get_number(cli_t *cli, const char *name, uint64_t limit, uint64_t missing, uint64_t *out);
// Value of an option that must be there; usage fault naming it otherwise.
hx_status_t cli_need(cli_t *cli, const char *name, const char **out);

// From now on lines on stderr say which rank speaks; ranks other than 0 keep quiet on standard output.
void cli_speak_as(cli_t *cli, uint32_t rank, uint32_t size);
// "heliox", or "heliox[1/4]" of rank 1 of 4: how lines on stderr begin.
const char *cli_speaker(void);
// Prints the report's faults on stderr (or as JSON on stdout) and returns the exit code of a status.
int cli_fail(cli_t *cli, hx_status_t status);
// Prints faults as warnings and empties the report.
void cli_warn(cli_t *cli);
// Prints a JSON object on stdout and releases it.
int cli_print_json(json_t *object);
// A line on stdout unless -q.
void cli_say(const cli_t *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

// "NAME=REST": splits; usage fault otherwise. The name is copied into `name`.
hx_status_t cli_split(cli_t *cli, const char *text, char *name, size_t size, const char **out_rest);

// What --locked and --signatures ask for.
hx_status_t cli_plugins_options(cli_t *cli, hx_plugins_options_t *out);
// Discovers plugins under them; warnings are printed.
hx_status_t cli_discover(cli_t *cli, hx_plugins_t **out);
// Discovers plugins (warnings are printed) and opens the backend of --backend.
hx_status_t cli_backend(cli_t *cli, hx_plugins_t **out_plugins, hx_backend_t **out_backend);
// The same with a list of its own.
hx_status_t cli_backend_of(cli_t *cli, const char *list, hx_plugins_t **out_plugins, hx_backend_t **out_backend);
// A preset name or a parameter file, with --digits and --insecure honoured.
hx_status_t cli_params(cli_t *cli, const char *text, hx_params_t **out);
// True if the file is a bundle.
bool cli_is_bundle(const char *path);
// A program's text. A path that leads nowhere but to a program of this installation is answered with that one's.
hx_status_t cli_load_program(cli_t *cli, const char *path, hx_program_t **out);
// A program's text or a bundle. params NULL: those that the program names.
hx_status_t cli_load_compilation(cli_t *cli, const char *path, const hx_params_t *params, hx_program_t **out_program,
                                 hx_compilation_t **out);
// A bundle of the program and all that is bound to it.
hx_status_t cli_save_compilation(cli_t *cli, const hx_compilation_t *compilation, const char *pipeline,
                                 const char *path);
// Keys that a program needs, drawn now: for what does not depend on them.
hx_status_t cli_draw_keys(cli_t *cli, const hx_program_t *program, const hx_params_t *params, hx_keys_t **out);
// What -i NAME=TEXT names: a file, or of an input that is a public number the number itself.
hx_status_t cli_load_input(cli_t *cli, const hx_params_t *params, const hx_port_t *port, const char *text,
                           hx_value_t **out);
// To the file of -o, or to standard output.
hx_status_t cli_give_text(cli_t *cli, const char *text);
// Binds what --materials names: containers by symbol, or one value each.
hx_status_t cli_bind_materials(cli_t *cli, hx_compilation_t *compilation);
// One line about parameters and their security.
void cli_print_params(FILE *to, const hx_params_t *params);
// Milliseconds since an arbitrary start.
double cli_now_ms(void);
// Directory that holds share/heliox/..., relative to the program; freed by free.
char *cli_share_path(const char *below);

#define CLI_TRY(cli_, expression_)                                       \
  do {                                                                   \
    const hx_status_t try_status_ = (expression_);                       \
    if (try_status_ != HX_STATUS_OK) return cli_fail(cli_, try_status_); \
  } while (0)

#endif
