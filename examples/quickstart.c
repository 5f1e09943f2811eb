// SPDX-License-Identifier: Apache-2.0
// Use from C: encrypt two vectors, compute (x + y) * x, decrypt.
#include <stdio.h>

#include "heliox/heliox.h"

#define CHECK(call_)           \
  if ((call_) != HX_STATUS_OK) \
  return fprintf(stderr, "%s\n", hx_report_count(report) ? hx_report_get(report, 0)->text : "failed"), 1

int main(void) {
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  hx_keys_t *keys = NULL;
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  hx_engine_t *engine = NULL;
  CHECK(hx_params_preset("n13-d3-s40", &params, report));
  CHECK(hx_keys_generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN}, &keys, report));
  CHECK(hx_plugins_discover(NULL, &plugins, report));
  CHECK(hx_backend_create(plugins, "cpu", &backend, report));
  CHECK(hx_engine_create(params, keys, backend, &engine, report));

  const double numbers[2][3] = {{1, 2, 3}, {0.5, -1, 4}};
  hx_value_t *plain[2], *x[2], *sum, *product, *two, *result, *decrypted;
  for (int i = 0; i < 2; ++i) {
    CHECK(hx_encode(params, numbers[i], 3, false, &(hx_encode_options_t){.secret = true}, &plain[i], report));
    CHECK(hx_encrypt(keys, plain[i], false, &x[i], report));
  }
  CHECK(hx_engine_add(engine, x[0], x[1], &sum, report));
  CHECK(hx_engine_mul(engine, sum, x[0], &product, report));
  CHECK(hx_engine_relinearize(engine, product, &two, report));
  CHECK(hx_engine_rescale(engine, two, &result, report));

  CHECK(hx_decrypt(keys, result, &decrypted, report));
  static double slots[2 * 4096];
  CHECK(hx_decode(decrypted, slots, report));
  for (int i = 0; i < 3; ++i) printf("%.4f\n", slots[2 * i]);

  hx_value_t *all[] = {plain[0], plain[1], x[0], x[1], sum, product, two, result, decrypted};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) hx_value_release(all[i]);
  hx_engine_release(engine);
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  hx_keys_release(keys);
  hx_params_release(params);
  hx_report_release(report);
  return 0;
}
