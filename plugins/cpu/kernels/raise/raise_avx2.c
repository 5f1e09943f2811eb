// SPDX-License-Identifier: Apache-2.0
#include "kernels/raise/raise_apart.h"

RAISE_APART(avx2);
