// SPDX-License-Identifier: Apache-2.0
// Devices: tables, memory, transfers, placed copies and packed forms; everything is let go in the end.
#include <pthread.h>

#include "core/ckks/params.h"
#include "tests/unit/fake_plugin.h"

static hx_params_t *make_params(void) {
  static const char json[] =
      "{\"log_n\":4,\"word\":64,\"base\":[\"1152921504606844513\"],\"groups\":[[\"1125899906842273\"]],"
      "\"special\":[\"1152921504606845473\"],\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}";
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_params_parse(hx_str(json), "test", HX_PARAMS_INSECURE, &params, report) != HX_STATUS_OK) {
    fail_msg("%s", hx_report_get(report, 0)->text);
  }
  hx_report_release(report);
  return params;
}

typedef struct scene {
  fake_plugin_t *plugin;
  hx_opened_device_t *device;
  hx_report_t *report;
} scene_t;

static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  fake_reset_knobs();
  scene->report = hx_report_create();
  scene->plugin = fake_plugin_create("alpha");
  assert_int_equal(hx_device_open(&scene->plugin->loaded, 0, &scene->device, scene->report), HX_STATUS_OK);
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_device_release(scene->device);
  assert_int_equal(fake.buffers, 0);
  assert_int_equal(fake.queues, 0);
  assert_int_equal(fake.tables_alive, 0);
  assert_int_equal(fake.packed_alive, 0);
  fake_plugin_destroy(scene->plugin);
  hx_report_release(scene->report);
  free(scene);
  return 0;
}

static void open_refuses_devices_that_are_not_there(void **state) {
  scene_t *scene = *state;
  hx_opened_device_t *device = NULL;
  assert_int_not_equal(hx_device_open(&scene->plugin->loaded, 3, &device, scene->report), HX_STATUS_OK);
  assert_null(device);
  assert_non_null(strstr(hx_report_get(scene->report, 0)->text, "there is one device"));
}

static void open_refuses_plugins_without_roles(void **state) {
  scene_t *scene = *state;
  hx_opened_device_t *device = NULL;
  scene->plugin->loaded.table.queue = NULL;
  assert_int_equal(hx_device_open(&scene->plugin->loaded, 0, &device, scene->report), HX_STATUS_UNSUPPORTED);
  assert_non_null(strstr(hx_report_get(scene->report, 0)->text, "roles are not complete"));
  // A role table that ends early has no function there.
  hx_queue_ops shorter = fake_queue_ops;
  shorter.struct_size = HX_END_OF(hx_queue_ops, copy);
  scene->plugin->loaded.table.queue = &shorter;
  assert_int_equal(hx_device_open(&scene->plugin->loaded, 0, &device, scene->report), HX_STATUS_UNSUPPORTED);
  scene->plugin->loaded.table.queue = &fake_queue_ops;
}

static void tables_are_made_once_a_ring(void **state) {
  scene_t *scene = *state;
  hx_params_t *params = make_params();
  const uint32_t before = fake.tables_made;
  hx_device_tables_t *one = NULL, *two = NULL;
  assert_int_equal(hx_device_tables_acquire(scene->device, hx_params_ring(params), &one, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_tables_acquire(scene->device, hx_params_ring(params), &two, scene->report), HX_STATUS_OK);
  assert_ptr_equal(one, two);
  assert_int_equal(fake.tables_made - before, 1);
  hx_device_tables_release(one);
  assert_int_equal(fake.tables_alive, 1);
  hx_device_tables_release(two);
  assert_int_equal(fake.tables_alive, 0);
  hx_params_release(params);
}

static void tables_report_the_plugins_text(void **state) {
  scene_t *scene = *state;
  hx_params_t *params = make_params();
  hx_ring ring = *hx_params_ring(params);
  ring.word = 48;
  hx_device_tables_t *tables = NULL;
  assert_int_not_equal(hx_device_tables_acquire(scene->device, &ring, &tables, scene->report), HX_STATUS_OK);
  assert_null(tables);
  assert_non_null(strstr(hx_report_get(scene->report, 0)->text, "48"));
  hx_params_release(params);
}

static void buffer_imports_host_memory_once(void **state) {
  scene_t *scene = *state;
  hx_storage_t *storage = hx_storage_create(4096, false);
  hx_buffer *one = NULL, *two = NULL;
  assert_int_equal(hx_device_buffer(scene->device, storage, "x", &one, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_buffer(scene->device, storage, "x", &two, scene->report), HX_STATUS_OK);
  assert_ptr_equal(one, two);
  assert_ptr_equal(one->address, storage->address);
  assert_int_equal(fake.buffers, 1);
  hx_storage_release(storage);
  assert_int_equal(fake.buffers, 0);
}

static void buffer_keeps_the_device_while_storage_lives(void **state) {
  scene_t *scene = *state;
  hx_opened_device_t *device = NULL;
  assert_int_equal(hx_device_open(&scene->plugin->loaded, 0, &device, scene->report), HX_STATUS_OK);
  hx_storage_t *storage = hx_storage_create(64, false);
  hx_buffer *buffer = NULL;
  assert_int_equal(hx_device_buffer(device, storage, "x", &buffer, scene->report), HX_STATUS_OK);
  const uint32_t closes = fake.device_closes;
  hx_device_release(device);
  assert_int_equal(fake.device_closes, closes);
  hx_storage_release(storage);
  assert_int_equal(fake.device_closes, closes + 1);
}

static void *import_many(void *argument) {
  void **arguments = argument;
  hx_buffer *buffer = NULL;
  for (int i = 0; i < 100; ++i) {
    if (hx_device_buffer(arguments[0], arguments[1], "x", &buffer, NULL) != HX_STATUS_OK) return NULL;
  }
  return buffer;
}

static void buffer_is_shared_by_racing_threads(void **state) {
  scene_t *scene = *state;
  hx_storage_t *storage = hx_storage_create(4096, false);
  void *arguments[] = {scene->device, storage};
  pthread_t threads[4];
  void *buffers[4];
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_create(&threads[i], NULL, import_many, arguments), 0);
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_join(threads[i], &buffers[i]), 0);
  for (int i = 0; i < 4; ++i) assert_ptr_equal(buffers[i], buffers[0]);
  hx_storage_release(storage);
}

static void buffer_refuses_foreign_memory(void **state) {
  scene_t *scene = *state;
  hx_opened_device_t *other = NULL;
  hx_storage_t *storage = NULL;
  hx_buffer *buffer = NULL;
  assert_int_equal(hx_device_open(&scene->plugin->loaded, 0, &other, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_alloc(other, HX_SPACE_DEVICE, 64, false, &storage, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_buffer(scene->device, storage, "input x", &buffer, scene->report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(scene->report, 0)->code, HX_CODE_DEVICE_MIX);
  assert_non_null(strstr(hx_report_get(scene->report, 0)->text, "input x lies on alpha:0"));
  hx_storage_release(storage);
  hx_device_release(other);
}

static void buffer_refuses_host_memory_without_import(void **state) {
  scene_t *scene = *state;
  fake.no_import = true;
  hx_storage_t *storage = hx_storage_create(64, false);
  hx_buffer *buffer = NULL;
  assert_false(hx_device_imports(scene->device));
  assert_int_equal(hx_device_buffer(scene->device, storage, "input x", &buffer, scene->report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(scene->report, 0)->code, HX_CODE_DEVICE_MIX);
  assert_non_null(strstr(hx_report_get(scene->report, 0)->text, "transfer it first"));
  hx_storage_release(storage);
}

static void transfers_reach_memory_without_address(void **state) {
  scene_t *scene = *state;
  fake.no_import = fake.hides_addresses = true;
  enum { BYTES = (16 << 20) + 4096 };  // more than one staging piece
  unsigned char *from = malloc(BYTES), *to = calloc(1, BYTES);
  for (size_t i = 0; i < BYTES; ++i) from[i] = (unsigned char)(i * 7 + i / 4096);
  hx_storage_t *storage = NULL;
  assert_int_equal(hx_device_alloc(scene->device, HX_SPACE_DEVICE, BYTES + 128, true, &storage, scene->report),
                   HX_STATUS_OK);
  assert_null(storage->address);
  assert_int_equal(hx_device_upload(scene->device, storage, 128, from, BYTES, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_download(scene->device, to, storage, 128, BYTES, scene->report), HX_STATUS_OK);
  assert_memory_equal(from, to, BYTES);
  assert_int_equal(hx_device_clear(scene->device, storage, 128, BYTES, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_download(scene->device, to, storage, 128, BYTES, scene->report), HX_STATUS_OK);
  for (size_t i = 0; i < BYTES; ++i) assert_int_equal(to[i], 0);
  hx_storage_release(storage);
  free(from);
  free(to);
}

static void place_shares_copies_of_one_generation(void **state) {
  scene_t *scene = *state;
  fake.no_import = fake.hides_addresses = true;
  hx_storage_t *storage = hx_storage_create(256, false);
  memset(storage->address, 0x11, 256);
  hx_placed_t *one = NULL, *two = NULL, *three = NULL;
  assert_int_equal(hx_device_place(scene->device, storage, &one, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_device_place(scene->device, storage, &two, scene->report), HX_STATUS_OK);
  assert_ptr_equal(one, two);
  memset(storage->address, 0x22, 256);
  hx_storage_touch(storage);
  assert_int_equal(hx_device_place(scene->device, storage, &three, scene->report), HX_STATUS_OK);
  assert_ptr_not_equal(one, three);
  unsigned char byte = 0;
  assert_int_equal(hx_device_download(scene->device, &byte, one->copy, 7, 1, scene->report), HX_STATUS_OK);
  assert_int_equal(byte, 0x11);
  assert_int_equal(hx_device_download(scene->device, &byte, three->copy, 7, 1, scene->report), HX_STATUS_OK);
  assert_int_equal(byte, 0x22);
  hx_placed_release(one);
  hx_placed_release(two);
  hx_placed_release(three);
  hx_storage_release(storage);
}

static void pack_shares_forms_until_the_bytes_change(void **state) {
  scene_t *scene = *state;
  hx_params_t *params = make_params();
  hx_device_tables_t *tables = NULL;
  assert_int_equal(hx_device_tables_acquire(scene->device, hx_params_ring(params), &tables, scene->report),
                   HX_STATUS_OK);
  hx_layout_t layout = {.dtype = HX_U64, .log_n = 4, .components = 1, .limbs = 2};
  hx_tensor_t *tensor = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  const hx_tensor_desc desc = {.struct_size = HX_END_OF(hx_tensor_desc, rows)};
  const uint32_t before = fake.packs;
  hx_packed_form_t *one = NULL, *two = NULL, *three = NULL, *four = NULL;
  assert_int_equal(hx_device_pack(scene->device, tables, "packed-plain", tensor, &desc, &one, scene->report),
                   HX_STATUS_OK);
  assert_int_equal(hx_device_pack(scene->device, tables, "packed-plain", tensor, &desc, &two, scene->report),
                   HX_STATUS_OK);
  assert_ptr_equal(one, two);
  assert_int_equal(hx_device_pack(scene->device, tables, "x-other", tensor, &desc, &three, scene->report),
                   HX_STATUS_OK);
  assert_ptr_not_equal(one, three);
  hx_tensor_touch(tensor);
  assert_int_equal(hx_device_pack(scene->device, tables, "packed-plain", tensor, &desc, &four, scene->report),
                   HX_STATUS_OK);
  assert_ptr_not_equal(one, four);
  assert_int_equal(fake.packs - before, 3);
  hx_packed_form_release(hx_packed_form_retain(one));
  hx_packed_form_release(one);
  hx_packed_form_release(two);
  hx_packed_form_release(three);
  hx_packed_form_release(four);
  hx_tensor_release(tensor);
  hx_device_tables_release(tables);
  hx_params_release(params);
}

static void pack_needs_a_materializer(void **state) {
  scene_t *scene = *state;
  scene->device->materializer.pack = NULL;
  hx_params_t *params = make_params();
  hx_device_tables_t *tables = NULL;
  assert_int_equal(hx_device_tables_acquire(scene->device, hx_params_ring(params), &tables, scene->report),
                   HX_STATUS_OK);
  hx_layout_t layout = {.dtype = HX_U64, .log_n = 4, .components = 1, .limbs = 2};
  hx_tensor_t *tensor = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  const hx_tensor_desc desc = {.struct_size = HX_END_OF(hx_tensor_desc, rows)};
  hx_packed_form_t *form = NULL;
  assert_int_equal(hx_device_pack(scene->device, tables, "packed-key", tensor, &desc, &form, scene->report),
                   HX_STATUS_NOT_FOUND);
  assert_int_equal(hx_report_get(scene->report, 0)->code, HX_CODE_RESOURCE);
  hx_tensor_release(tensor);
  hx_device_tables_release(tables);
  hx_params_release(params);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {CASE(open_refuses_devices_that_are_not_there),
                                     CASE(open_refuses_plugins_without_roles),
                                     CASE(tables_are_made_once_a_ring),
                                     CASE(tables_report_the_plugins_text),
                                     CASE(buffer_imports_host_memory_once),
                                     CASE(buffer_keeps_the_device_while_storage_lives),
                                     CASE(buffer_is_shared_by_racing_threads),
                                     CASE(buffer_refuses_foreign_memory),
                                     CASE(buffer_refuses_host_memory_without_import),
                                     CASE(transfers_reach_memory_without_address),
                                     CASE(place_shares_copies_of_one_generation),
                                     CASE(pack_shares_forms_until_the_bytes_change),
                                     CASE(pack_needs_a_materializer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
