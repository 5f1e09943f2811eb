// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "core/tensor/tensor.h"

static hx_layout_t layout_of(uint32_t log_n, uint32_t limbs, uint32_t components) {
  hx_layout_t layout = {.dtype = HX_U64, .log_n = log_n, .limbs = limbs, .components = components};
  assert_true(hx_layout_pack(&layout) > 0);
  return layout;
}

static void layout_pack_orders_axes_as_documented(void **state) {
  (void)state;
  hx_layout_t layout = {
      .dtype = HX_U64, .log_n = 3, .batch_rank = 2, .batch_shape = {4, 5}, .digits = 3, .components = 2, .limbs = 7};
  assert_int_equal(hx_layout_pack(&layout), 4 * 5 * 3 * 2 * 7 * 8);
  assert_int_equal(layout.limb_stride, 8);
  assert_int_equal(layout.component_stride, 56);
  assert_int_equal(layout.digit_stride, 112);
  assert_int_equal(layout.batch_strides[1], 336);
  assert_int_equal(layout.batch_strides[0], 1680);
  assert_true(hx_layout_is_dense(&layout));
  assert_int_equal(hx_layout_extent(&layout), hx_layout_elements(&layout));
  assert_int_equal(hx_layout_items(&layout), 20);
  assert_int_equal(hx_layout_item_offset(&layout, 7), 1 * 1680 + 2 * 336);
}

static void layout_refuses_empty_and_overflowing_shapes(void **state) {
  (void)state;
  hx_layout_t layout = {.dtype = HX_U64, .log_n = 3, .components = 0, .limbs = 7};
  assert_int_equal(hx_layout_pack(&layout), 0);
  layout = (hx_layout_t){.dtype = HX_U64, .log_n = 40, .components = UINT32_MAX, .limbs = UINT32_MAX};
  assert_int_equal(hx_layout_pack(&layout), 0);
  hx_tensor_t *tensor = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_INVALID);
  layout = (hx_layout_t){.dtype = HX_U64, .log_n = 47, .components = 1 << 13, .limbs = 1};
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OUT_OF_MEMORY);
  layout = (hx_layout_t){.dtype = 77, .log_n = 3, .components = 1, .limbs = 1};
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_INVALID);
  assert_null(tensor);
}

static void tensor_rows_follow_strides_and_row_lists(void **state) {
  (void)state;
  const hx_layout_t layout = layout_of(3, 5, 2);
  hx_tensor_t *tensor = NULL, *view = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  uint64_t *base = hx_tensor_row(tensor, 0, 0, 0, 0);
  assert_ptr_equal(hx_tensor_row(tensor, 0, 0, 1, 2), base + 40 + 16);
  hx_layout_t rows = layout;
  rows.limbs = 3;
  rows.has_rows = true;
  rows.rows[0] = 0;
  rows.rows[1] = 3;
  rows.rows[2] = 4;
  assert_int_equal(hx_tensor_view(tensor, 0, &rows, &view, NULL), HX_STATUS_OK);
  assert_ptr_equal(hx_tensor_row(view, 0, 0, 1, 1), base + 40 + 24);
  assert_false(hx_layout_is_dense(&view->layout));
  hx_tensor_release(tensor);  // the view keeps the storage
  base[0] = 5;
  assert_int_equal(*(uint64_t *)hx_tensor_row(view, 0, 0, 0, 0), 5);
  hx_tensor_release(view);
}

static void view_beyond_storage_is_refused(void **state) {
  (void)state;
  const hx_layout_t layout = layout_of(4, 2, 1);
  hx_tensor_t *tensor = NULL, *view = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_tensor_view(tensor, 8, &layout, &view, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SHAPE);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "264"));
  assert_int_equal(hx_tensor_view(tensor, UINT64_MAX - 7, &layout, &view, report), HX_STATUS_INVALID);
  assert_int_equal(hx_tensor_view(tensor, 4, &layout, &view, report), HX_STATUS_INVALID);
  assert_null(view);
  hx_report_release(report);
  hx_tensor_release(tensor);
}

static void generation_rises_for_every_view_of_a_storage(void **state) {
  (void)state;
  const hx_layout_t layout = layout_of(3, 2, 1);
  hx_tensor_t *tensor = NULL, *view = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  assert_int_equal(hx_tensor_view(tensor, 0, &layout, &view, NULL), HX_STATUS_OK);
  const uint64_t before = hx_tensor_generation(view);
  hx_tensor_touch(tensor);
  assert_int_equal(hx_tensor_generation(view), before + 1);
  assert_int_not_equal(tensor->storage->id, 0);
  hx_tensor_release(view);
  hx_tensor_release(tensor);
}

static unsigned char wiped_check[64];
static void keep_a_copy(hx_storage_t *storage) { memcpy(wiped_check, storage->address, sizeof wiped_check); }

static void secret_storage_is_wiped_before_it_is_freed(void **state) {
  (void)state;
  unsigned char memory[64];
  memset(memory, 0xa5, sizeof memory);
  hx_storage_t *storage = hx_storage_wrap(memory, sizeof memory, NULL, NULL, keep_a_copy, NULL, true);
  hx_storage_release(storage);
  for (size_t i = 0; i < sizeof wiped_check; ++i) assert_int_equal(wiped_check[i], 0);
  memset(memory, 0xa5, sizeof memory);
  storage = hx_storage_wrap(memory, sizeof memory, NULL, NULL, keep_a_copy, NULL, false);
  hx_storage_release(storage);
  assert_int_equal(wiped_check[0], 0xa5);
}

static void creation_survives_allocation_failures(void **state) {
  (void)state;
  const hx_layout_t layout = layout_of(3, 2, 1);
  for (uint64_t n = 1; n <= 3; ++n) {
    hx_tensor_t *tensor = NULL;
    hx_alloc_fail_at(n);
    assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OUT_OF_MEMORY);
    hx_alloc_fail_at(0);
    assert_null(tensor);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layout_pack_orders_axes_as_documented),
      cmocka_unit_test(layout_refuses_empty_and_overflowing_shapes),
      cmocka_unit_test(tensor_rows_follow_strides_and_row_lists),
      cmocka_unit_test(view_beyond_storage_is_refused),
      cmocka_unit_test(generation_rises_for_every_view_of_a_storage),
      cmocka_unit_test(secret_storage_is_wiped_before_it_is_freed),
      cmocka_unit_test(creation_survives_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
