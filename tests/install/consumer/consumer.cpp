// SPDX-License-Identifier: Apache-2.0
#include <heliox/heliox.h>

#include <cstring>

int main() { return std::strlen(hx_version()) > 0 ? 0 : 1; }
