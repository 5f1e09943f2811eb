// SPDX-License-Identifier: Apache-2.0
// The opencl plugin's self-test: its digests are those of the reference, it passes on the device that is here, and it
// refuses a device that computes one value wrongly, naming the operation.
#include "openclcheck.h"
#include "reference/reference.h"
#include "selftest.h"

static uint64_t reference_digest(hx_opencl_check_t *check) {
  hx_error error = oc_error();
  hx_ref_ring *ring = NULL;
  void *data[HX_OPENCL_CHECK_VALUES];
  for (uint32_t i = 0; i < check->value_count; i++) {
    data[i] = check->memory + check->offsets[i];
  }
  if (hx_ref_ring_create(&check->ring, &ring, &error) != HX_OK ||
      hx_reference_execute(ring, &check->op, check->values, data, &error) != HX_OK) {
    fail_msg("reference of %s: %s", check->op_name, error.message);
  }
  hx_ref_ring_destroy(ring);
  return hx_opencl_check_digest(check, check->memory);
}

static void digests_are_those_of_the_reference(void **state) {
  (void)state;
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < hx_opencl_check_count; i++) {
    for (uint32_t word = 64; word >= 32; word -= 32) {
      hx_opencl_check_t check;
      hx_error error = oc_error();
      assert_int_equal(hx_opencl_check_make(i, word, &check, &error), HX_OK);
      const uint64_t digest = reference_digest(&check);
      if (digest != check.expected) {
        print_message("row %u, %s, word %u: 0x%016llxu\n", i, check.op_name, word, (unsigned long long)digest);
        wrong++;
      }
      hx_opencl_check_release(&check);
    }
  }
  assert_int_equal(wrong, 0);
}

static void device_passes(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_error error = oc_error();
  if (hx_opencl_self_test(device, 32, &error) != HX_OK) {
    fail_msg("%s", error.message);
  }
  hx_opencl_device_ops.close(device);
}

// The kernels' source with one operation changed: the self-test finds it, whatever the operation.
static void wrong_compiler_is_refused_and_named(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *op;
  } faults[] = {{"FOR_EACH(mod_once(x + b[i], m))", "FOR_EACH(mod_once(x + b[i], m + 2))", "rns.add"},
                {"y_ = a - b + two_q; ", "y_ = a - b + q;     ", "ntt.forward"}};
  oc_require_device();
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    char *text = strdup(hx_opencl_source());
    char *at = strstr(text, faults[i].from);
    hx_error error = oc_error();
    hx_device *device = NULL;
    assert_non_null(at);
    const size_t room = strlen(text) + strlen(faults[i].to) + 1;
    char *changed = malloc(room);
    assert_non_null(changed);
    snprintf(changed, room, "%.*s%s%s", (int)(at - text), text, faults[i].to, at + strlen(faults[i].from));
    oc_host.cache = "off";
    hx_opencl_source_instead = changed;
    const int32_t code = hx_opencl_device_ops.open(0, &device, &error);
    hx_opencl_source_instead = NULL;
    free(changed);
    free(text);
    if (code != HX_UNAVAILABLE || strstr(error.message, faults[i].op) == NULL) {
      fail_msg("expected a refusal of %s, found code %d: %s", faults[i].op, code, error.message);
    }
    assert_null(device);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(digests_are_those_of_the_reference),
      cmocka_unit_test(device_passes),
      cmocka_unit_test(wrong_compiler_is_refused_and_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
