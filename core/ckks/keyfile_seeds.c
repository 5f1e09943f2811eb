// SPDX-License-Identifier: Apache-2.0
// Keys that were expanded from one seed share their uniform halves, so the difference of the other halves is free of
// them: it gives away the secret up to small errors (CKKS.md, "Keys": a seed serves one key). Such a set is refused.
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/keyfile.h"

typedef struct hx_seed_of {
  const uint8_t *seed;
  const hx_switch_key_t *key;  // NULL: the public key
} hx_seed_of_t;

static int by_seed(const void *a, const void *b) {
  return memcmp(((const hx_seed_of_t *)a)->seed, ((const hx_seed_of_t *)b)->seed, 32);
}

static void name_key(const hx_seed_of_t *of, char out[48]) {
  if (of->key == NULL) {
    snprintf(out, 48, "the public key");
  } else if (of->key->kind == HX_KEY_GALOIS) {
    snprintf(out, 48, "galois_%llu", (unsigned long long)of->key->element);
  } else {
    snprintf(out, 48, "%s", of->key->kind == HX_KEY_RELIN ? "relin" : "conj");
  }
}

// A key that came without a seed has zeros there.
static size_t add(hx_seed_of_t *list, size_t count, const uint8_t *seed, const hx_switch_key_t *key) {
  if (sodium_is_zero(seed, 32)) return count;
  list[count] = (hx_seed_of_t){.seed = seed, .key = key};
  return count + 1;
}

hx_status_t hx_keyfile_check_seeds(const hx_keys_t *keys, const char *directory, hx_report_t *report) {
  hx_seed_of_t *list = hx_zalloc(keys->galois_count + 3, sizeof *list);
  if (list == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read keys from %s", directory);
  size_t count = 0;
  if (keys->public_key != NULL) count = add(list, count, keys->public_seed, NULL);
  if (keys->relin != NULL) count = add(list, count, keys->relin->seed, keys->relin);
  if (keys->conj != NULL) count = add(list, count, keys->conj->seed, keys->conj);
  for (size_t i = 0; i < keys->galois_count; ++i) count = add(list, count, keys->galois[i].seed, &keys->galois[i]);
  if (count > 0) qsort(list, count, sizeof *list, by_seed);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 1; i < count && status == HX_STATUS_OK; ++i) {
    if (memcmp(list[i - 1].seed, list[i].seed, 32) != 0) continue;
    char names[2][48];
    name_key(&list[i - 1], names[0]);
    name_key(&list[i], names[1]);
    status = hx_report_fail_at(report, HX_CODE_SEED_REUSE, directory, 0, 0, "%s and %s were made from the same seed",
                               names[0], names[1]);
  }
  hx_free(list);
  return status;
}
