/* SPDX-License-Identifier: Apache-2.0 */
/* One fault in the template plugin: the linker sends every store of a row through here (--wrap).
 *   FAULT 1  one element of limb 1 of a product is wrong, in rings larger than the self-test uses
 *   FAULT 2  a negation crashes
 *   FAULT 3  a sum writes one word past its row
 *   FAULT 4  an allocation that fails ends the process (every calloc goes through here) */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#if FAULT == 4
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
  void *memory = __real_calloc(count, size);
  if (memory == NULL) abort();
  return memory;
}
#else
void __real_job_store(const job *j, uint32_t limb, const uint64_t *row);
void __wrap_job_store(const job *j, uint32_t limb, const uint64_t *row);

void __wrap_job_store(const job *j, uint32_t limb, const uint64_t *row) {
  const char *name = j->prepared->base.name;
#if FAULT == 1
  if (strcmp(name, "rns.mul") == 0 && limb == 1 && j->item == 0 && j->component == 0 && j->tables->ring.log_n >= 12) {
    uint64_t *own = job_row(j, 0); /* where the product stands */
    own[5] = mod_add(own[5], 1, job_prime(j, limb)->m.q);
  }
#elif FAULT == 2
  if (strcmp(name, "rns.neg") == 0) abort();
#else
  if (strcmp(name, "rns.add") == 0) j->result[j->prepared->base.results[0].bytes] = 7;
#endif
  __real_job_store(j, limb, row);
}
#endif
