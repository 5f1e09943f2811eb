/* SPDX-License-Identifier: Apache-2.0 */
/* The list of operations. The manifest declares the same. The semantics are those of the operation catalogue
 * (`heliox ops`); every result is exact, so that all plugins agree bit for bit. */
#include "ops.h"
#include "heliox_plugin_facts.h" /* HELIOX_PLUGIN_NAME */

/* Name, signature, build function, attributes (each followed by a blank), dtype of an operand that is no residue,
 * domains, in place. */
static const hxs_impl_row rows[] = {
    {"ntt.forward", 1, build_forward, "", 0, HXS_DOMAINS_ANY, true},
    {"ntt.inverse", 1, build_inverse, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.add", 1, build_add, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.sub", 1, build_sub, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.neg", 1, build_neg, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.mul", 1, build_mul, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.mul_add", 1, build_mul_add, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.mul_scalar", 1, build_mul_scalar, "residues ", 0, HXS_DOMAINS_ANY, true},
    {"rns.add_scalar", 1, build_add_scalar, "residues ", 0, HXS_DOMAINS_ANY, true},
    {"rns.reduce", 1, build_reduce, "", 0, HXS_DOMAINS_ANY, true},
    {"rns.center_lift", 1, build_center_lift, "ids ", HX_I64, HXS_DOMAINS_COEFFICIENT, false},
    {"rns.mod_up", 1, build_mod_up, "digit ", 0, HXS_DOMAINS_ANY, false},
    {"rns.mod_down", 1, build_mod_down, "rounding drop ", 0, HXS_DOMAINS_ANY, false},
    {"rns.rescale", 1, build_rescale, "rounding count ", 0, HXS_DOMAINS_ANY, false},
    {"rns.automorphism", 1, build_automorphism, "element ", 0, HXS_DOMAINS_ANY, false},
    {"rns.expand_uniform", 1, build_expand_uniform, "index ids ", HX_U8, HXS_DOMAINS_NTT, false},
};

const hxs_plugin plugin = {HELIOX_PLUGIN_NAME,
                           rows,
                           sizeof rows / sizeof *rows,
                           sizeof(hx_prepared),
                           ring_of,
                           begin,
                           NULL,
                           NULL,
                           true /* not constant-time */};
