// SPDX-License-Identifier: Apache-2.0
// doctor: findings, and the parts that look.
#ifndef HELIOX_CLI_DOCTOR_H
#define HELIOX_CLI_DOCTOR_H

#include "cli/cli.h"

// A note is a fact that somebody may want to change; a warning costs something; with a fault something does not work.
typedef enum cli_state { CLI_FINE, CLI_NOTE, CLI_WARNING, CLI_FAULT, CLI_STATE_COUNT } cli_state_t;

typedef struct cli_doctor {
  cli_t *cli;
  json_t *findings;
  size_t counts[CLI_STATE_COUNT];
} cli_doctor_t;

// One finding: printed at once (with -q only warnings and faults), kept for JSON. `remedy` NULL: nothing to do.
void cli_doctor_find(cli_doctor_t *doctor, const char *area, cli_state_t state, const char *remedy, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));

// Processor, memory, core dumps; threads; the environment's variables.
void cli_doctor_machine(cli_doctor_t *doctor);
void cli_doctor_threads(cli_doctor_t *doctor);
void cli_doctor_variables(cli_doctor_t *doctor);
// Drivers and libraries that plugins look for.
void cli_doctor_drivers(cli_doctor_t *doctor);
// Directories of what is remembered between runs, and the data of the demo.
void cli_doctor_files(cli_doctor_t *doctor);

#endif
