// SPDX-License-Identifier: Apache-2.0
// Doubles in text, whatever the locale of the process.
#ifndef HELIOX_CORE_IR_NUMBER_H
#define HELIOX_CORE_IR_NUMBER_H

#include "heliox/base.h"

#define HX_NUMBER_TEXT_MAX 48

// Nearest double of a decimal number without sign of infinity or NaN. False: too long, or beyond the range.
bool hx_number_parse(hx_str_t text, double *out);
// Text that reads back to the same bits: as MLIR writes f64, six decimals where they suffice, else as many as it takes,
// hexadecimal bits where it is not finite.
void hx_number_print(double number, char text[HX_NUMBER_TEXT_MAX]);

#endif
