// SPDX-License-Identifier: Apache-2.0
// The command table, its parsing by getopt_long, and help.
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/option_rows.h"

#define COMMAND(id_, name_, arguments_, summary_, min_, max_, options_) int cli_run_##id_(cli_t *cli);
#include "cli/commands.def"
#define COMMAND(id_, name_, arguments_, summary_, min_, max_, options_) \
  static const cli_option_t options_of_##id_[] = options_;
#include "cli/commands.def"

const cli_command_t cli_commands[] = {
#define COMMAND(id_, name_, arguments_, summary_, min_, max_, options_) \
  {.name = (name_),                                                     \
   .arguments = (arguments_),                                           \
   .summary = (summary_),                                               \
   .arguments_min = (min_),                                             \
   .arguments_max = (max_),                                             \
   .options = options_of_##id_,                                         \
   .run = cli_run_##id_},
#include "cli/commands.def"
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

static const cli_option_t common_options[] = {
#define OPTION_ROW(name_, letter_, value_, doc_) {(name_), (letter_), (value_), (doc_)},
#include "cli/common.def"
    {NULL, 0, NULL, NULL},
};

static void print_options(FILE *to, const cli_option_t *options) {
  for (; options->name != NULL; ++options) {
    char left[64];
    const char letter[] = {'-', options->letter, ',', ' ', 0};
    snprintf(left, sizeof left, "%s--%s%s%s", options->letter != 0 ? letter : "    ", options->name,
             options->value != NULL ? " " : "", options->value != NULL ? options->value : "");
    fprintf(to, "  %-28s %s\n", left, options->doc);
  }
}

static void print_command_help(FILE *to, const cli_command_t *command) {
  fprintf(to, "Usage: heliox %s%s%s%s\n\n%s\n", command->name, command->arguments[0] != 0 ? " " : "",
          command->arguments, command->options->name != NULL ? " [OPTION]..." : "", command->summary);
  if (command->options->name != NULL) {
    fputs("\nOptions:\n", to);
    print_options(to, command->options);
  }
  fputs("\nEverywhere:\n", to);
  print_options(to, common_options);
}

static void print_help(FILE *to) {
  fputs(
      "Usage: heliox COMMAND [ARGUMENT]... [OPTION]...\n\nComputing on encrypted numbers (CKKS), on whatever backend "
      "is plugged in.\n\nCommands:\n",
      to);
  for (size_t i = 0; i < cli_command_count; ++i)
    fprintf(to, "  %-18s %s\n", cli_commands[i].name, cli_commands[i].summary);
  fputs("\nEverywhere:\n", to);
  print_options(to, common_options);
  fputs("\nExit status: 0 done; 1 the answer is no; 2 bad usage; 3 input or file error; 70 internal error.\n", to);
}

// Finds the command that the leading words name; *out_words is how many they were.
static const cli_command_t *find_command(int count, char **words, int *out_words) {
  for (int used = count >= 2 ? 2 : count; used >= 1; --used) {
    char name[64];
    snprintf(name, sizeof name, used == 2 ? "%s %s" : "%s", words[0], used == 2 ? words[1] : "");
    for (size_t i = 0; i < cli_command_count; ++i) {
      if (strcmp(cli_commands[i].name, name) == 0) {
        *out_words = used;
        return &cli_commands[i];
      }
    }
  }
  return NULL;
}

// Commands whose first word is `word`, listed for a half-given name.
static void print_family(FILE *to, const char *word) {
  const size_t size = strlen(word);
  for (size_t i = 0; i < cli_command_count; ++i) {
    if (strncmp(cli_commands[i].name, word, size) != 0 || cli_commands[i].name[size] != ' ') continue;
    fprintf(to, "  %-18s %s\n", cli_commands[i].name, cli_commands[i].summary);
  }
}

#define FIRST_LONG 256  // values of options without a letter start here

static void add_options(const cli_option_t *options, struct option *longs, int *long_count, char *shorts) {
  for (; options->name != NULL && *long_count < CLI_OPTIONS_MAX; ++options) {
    longs[*long_count] =
        (struct option){.name = options->name, .has_arg = options->value != NULL, .val = FIRST_LONG + *long_count};
    ++*long_count;
    if (options->letter == 0) continue;
    const size_t end = strlen(shorts);
    shorts[end] = options->letter;
    shorts[end + 1] = options->value != NULL ? ':' : 0;
  }
}

static const char *name_of_letter(const cli_option_t *options, int letter) {
  for (; options->name != NULL; ++options) {
    if (options->letter == letter) return options->name;
  }
  return NULL;
}

// The word that getopt stumbled over, and in which way, as a fault. cause: what it returned.
static int fail_option(cli_t *cli, const struct option *longs, int cause, const char *word) {
  const struct option *known = optopt >= FIRST_LONG ? &longs[optopt - FIRST_LONG] : NULL;
  char name[64], text[256], hint[160];
  if (known != NULL) {
    snprintf(name, sizeof name, "--%s", known->name);
  } else if (optopt > 0) {
    snprintf(name, sizeof name, "-%c", optopt);
  } else {
    snprintf(name, sizeof name, "%.60s", word);
  }
  if (cause == ':') {
    snprintf(text, sizeof text, "option '%s' needs a value", name);
  } else if (known != NULL) {
    snprintf(text, sizeof text, "option '%s' takes no value", name);
  } else {
    snprintf(text, sizeof text, "no option '%s' of 'heliox %s', or short for several", name, cli->command->name);
  }
  snprintf(hint, sizeof hint, "'heliox %s --help' lists the options", cli->command->name);
  cli->json = cli_has(cli, "json");
  return cli_fail(cli, hx_report_add(cli->report, &(hx_fault_t){.code = HX_CODE_USAGE, .text = text, .hint = hint}));
}

static int parse_options(cli_t *cli, int argc, char **argv) {
  struct option longs[CLI_OPTIONS_MAX + 1] = {0};
  char shorts[2 * CLI_OPTIONS_MAX + 1] = ":";  // a missing value is told from an unknown option
  int long_count = 0;
  add_options(cli->command->options, longs, &long_count, shorts);
  add_options(common_options, longs, &long_count, shorts);
  opterr = 0;  // faults are told as all others are
  for (;;) {
    const int value = getopt_long(argc, argv, shorts, longs, NULL);
    if (value == -1) break;
    if (value == '?' || value == ':') return fail_option(cli, longs, value, argv[optind - 1]);
    const char *name =
        value >= FIRST_LONG ? longs[value - FIRST_LONG].name : name_of_letter(cli->command->options, value);
    if (name == NULL) name = name_of_letter(common_options, value);
    if (cli->given_count == CLI_OPTIONS_MAX) {
      return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE, "more than %d options", CLI_OPTIONS_MAX));
    }
    cli->given[cli->given_count].name = name;
    cli->given[cli->given_count++].value = optarg;
  }
  cli->arguments = argv + optind;
  cli->argument_count = argc - optind;
  return -1;
}

static void log_line(void *argument, int level, const char *area, const char *text) {
  (void)argument;
  static const char *const names[] = {"", "error", "warning", "info", "debug"};
  fprintf(stderr, "%s: %s [%s] %s\n", cli_speaker(), level >= 1 && level <= 4 ? names[level] : "", area, text);
}

static hx_status_t apply_common(cli_t *cli) {
  cli->json = cli_has(cli, "json");
  cli->quiet = cli_has(cli, "quiet");
  cli->insecure = cli_has(cli, "insecure");
  for (int i = 0; i < cli->given_count; ++i) cli->verbose += strcmp(cli->given[i].name, "verbose") == 0;
  hx_log_set_sink(log_line, NULL);
  const char *filter = cli_get(cli, "log");
  if (filter == NULL) filter = cli->verbose > 1 ? "debug" : cli->verbose == 1 ? "info" : getenv("HELIOX_LOG");
  hx_status_t status = hx_log_set_filter(filter, cli->report);
  if (status != HX_STATUS_OK) return status;
  // Programs that a command starts are under the same rules.
  if (cli_has(cli, "locked")) setenv("HELIOX_LOCK", cli_get(cli, "locked"), 1);
  if (cli_has(cli, "signatures")) setenv("HELIOX_SIGNATURES", cli_get(cli, "signatures"), 1);
  uint64_t threads;
  status = cli_get_number(cli, "threads", 1025, 0, &threads);
  if (status == HX_STATUS_OK && cli_has(cli, "threads")) hx_threads_set((uint32_t)threads);
  return status;
}

static int run_command(cli_t *cli, int argc, char **argv) {
  const int early = parse_options(cli, argc, argv);
  if (early >= 0) return early;
  if (cli_has(cli, "help")) {
    print_command_help(stdout, cli->command);
    return CLI_DONE;
  }
  if (cli->argument_count < cli->command->arguments_min || cli->argument_count > cli->command->arguments_max) {
    char text[160], hint[160];
    snprintf(text, sizeof text, "'heliox %s' takes %s%s, found %d argument%s", cli->command->name,
             cli->command->arguments_max == 0 ? "no argument" : "", cli->command->arguments, cli->argument_count,
             cli->argument_count == 1 ? "" : "s");
    snprintf(hint, sizeof hint, "see 'heliox %s --help'", cli->command->name);
    cli->json = cli_has(cli, "json");
    return cli_fail(cli, hx_report_add(cli->report, &(hx_fault_t){.code = HX_CODE_USAGE, .text = text, .hint = hint}));
  }
  CLI_TRY(cli, apply_common(cli));
  const int code = cli->command->run(cli);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("heliox: standard output");
    return CLI_INPUT;
  }
  return code;
}

// No such command: which one was meant, where it begins like others.
static int fail_command(cli_t *cli, int argc, char **argv) {
  char text[256];
  bool family = false;
  const size_t size = strlen(argv[1]);
  for (size_t i = 0; i < cli_command_count; ++i)
    family = family || (strncmp(cli_commands[i].name, argv[1], size) == 0 && cli_commands[i].name[size] == ' ');
  snprintf(text, sizeof text, "no command '%.60s%s%.60s'", argv[1], family && argc > 2 ? " " : "",
           family && argc > 2 ? argv[2] : "");
  for (int i = 1; i < argc; ++i) cli->json = cli->json || strcmp(argv[i], "--json") == 0;
  const int code = cli_fail(
      cli,
      hx_report_add(cli->report, &(hx_fault_t){.code = HX_CODE_USAGE,
                                               .text = text,
                                               .hint = family ? "one of those below" : "'heliox --help' lists all"}));
  if (!cli->json) print_family(stderr, argv[1]);
  return code;
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    print_help(argc < 2 ? stderr : stdout);
    return argc < 2 ? CLI_USAGE : CLI_DONE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("heliox %s\n", hx_version());
    return CLI_DONE;
  }
  int words = 0;
  cli_t cli = {.command = find_command(argc - 1, argv + 1, &words)};
  if (cli.command == NULL && strcmp(argv[1], "plugins") == 0 && (argc == 2 || argv[2][0] == '-')) {
    char *list[] = {argv[1], (char *)(uintptr_t) "list"};  // `plugins` alone means `plugins list`
    cli.command = find_command(2, list, &words);
    words = 1;
  }
  cli.report = hx_report_create();
  if (cli.report == NULL) return CLI_INTERNAL;
  if (cli.command == NULL) {
    const int code = fail_command(&cli, argc, argv);
    hx_report_release(cli.report);
    return code;
  }
  argv[words] = argv[0];  // getopt's messages start with the program's name
  const int code = run_command(&cli, argc - words, argv + words);
  hx_report_release(cli.report);
  return code;
}
