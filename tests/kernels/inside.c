// SPDX-License-Identifier: Apache-2.0
// The table of the plugin whose archive this is compiled for: KC_PLUGIN is its short name. All plugins of this tree
// name what they are made of alike.
#include "kernelcheck.h"

#include "heliox/support/host.h"
#include "heliox/support/prepare.h"

#define JOIN_(a_, b_, c_) a_##b_##c_
#define JOIN(a_, b_, c_) JOIN_(a_, b_, c_)
#define OWN(what_) JOIN(hx_, KC_PLUGIN, what_)
#define TEXT_(word_) #word_
#define TEXT(word_) TEXT_(word_)

extern const hx_device_ops OWN(_device_ops);
extern const hx_memory_ops OWN(_memory_ops);
extern const hx_queue_ops OWN(_queue_ops);
extern const hx_impl *const OWN(_impls)[];
extern const hxs_plugin OWN(_plugin);

#define ROWS_MAX 128u

const hx_plugin *kc_inside(const hx_host *host) {
  static hx_plugin plugin;
  hxs_host_set(host, TEXT(KC_PLUGIN));
  plugin = (hx_plugin){.struct_size = HX_END_OF(hx_plugin, shutdown),
                       .abi_major = HX_ABI_MAJOR,
                       .minor_max = HX_ABI_MINOR,
                       .impl_count = OWN(_plugin).row_count,
                       .impls = OWN(_impls),
                       .device = &OWN(_device_ops),
                       .memory = &OWN(_memory_ops),
                       .queue = &OWN(_queue_ops),
                       .shutdown = hxs_host_clear};
  return &plugin;
}

const kc_row_t *kc_inside_rows(void) {
  static kc_row_t rows[ROWS_MAX + 1];
  assert_true(OWN(_plugin).row_count <= ROWS_MAX);
  for (uint32_t i = 0; i < OWN(_plugin).row_count; i++) {
    const hxs_impl_row *row = &OWN(_plugin).rows[i];
    rows[i] = (kc_row_t){.op = row->op, .index = i, .domains = row->domains, .in_place = row->in_place};
  }
  return rows;
}

const char *const kc_inside_variants[] = {KC_VARIANTS NULL, NULL};
