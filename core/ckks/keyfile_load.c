// SPDX-License-Identifier: Apache-2.0
// Reading a directory of keys. All parts must be of one parameter set and one secret.
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/ckks/keyfile.h"

typedef struct hx_key_reader {
  const char *directory;
  hx_params_t *params;
  hx_keys_t *keys;  // made with the first part
  char first[64];   // file of that part
  hx_report_t *report;
  const hx_load_options_t *options;  // or NULL
  uint64_t done, total;              // bytes of the files before this one, and of all
  uint32_t ids[HX_PRIMES_MAX];       // 0, 1, ...: rows of keys are Q and P in id order
} hx_key_reader_t;

// One key [digit, 2, limb, n] or [2, limb, n] while its file is read.
typedef struct hx_key_half {
  hx_tensor_t *tensor;
  hx_artifact_rows_t b, a;
  uint8_t seed[32];
  bool has_seed;
} hx_key_half_t;

static hx_status_t fail_memory(const hx_key_reader_t *reader) {
  return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory to read keys from %s", reader->directory);
}

static hx_status_t fail_tensor(const hx_key_reader_t *reader, const hx_artifact_t *artifact, const char *name,
                               const char *what) {
  return hx_container_fail(artifact->container, reader->report, HX_CODE_FILE_FORMAT, "tensor \"%.100s\" %s", name,
                           what);
}

// ------------------------------------------------------------------ keys as tensors

static hx_layout_t key_layout(const hx_params_t *params, bool is_public) {
  const uint32_t nq = hx_params_q_count(params), np = hx_params_p_count(params);
  return (hx_layout_t){.dtype = hx_params_word(params) == 32 ? HX_U32 : HX_U64,
                       .log_n = hx_params_log_n(params),
                       .digits = is_public ? 0 : hx_params_digits(params),
                       .components = 2,
                       .limbs = is_public ? nq + (np > 0 ? 1 : 0) : nq + np};
}

static bool has_shape(const hx_container_tensor_t *tensor, const hx_layout_t *layout) {
  const uint32_t rank = layout->digits == 0 ? 2 : 3;
  return tensor->dtype == layout->dtype && tensor->rank == rank && (rank == 2 || tensor->shape[0] == layout->digits) &&
         tensor->shape[rank - 2] == layout->limbs && tensor->shape[rank - 1] == (uint64_t)1 << layout->log_n;
}

// Finds PREFIXb and PREFIXseed or PREFIXa, checks shapes, makes the tensor and gives the container its places.
static hx_status_t place_half(const hx_key_reader_t *reader, hx_artifact_t *artifact, const char *prefix,
                              bool is_public, hx_key_half_t *half) {
  hx_container_t *container = artifact->container;
  char name[3][64];
  snprintf(name[0], sizeof name[0], "%sb", prefix);
  snprintf(name[1], sizeof name[1], "%sseed", prefix);
  snprintf(name[2], sizeof name[2], "%sa", prefix);
  const size_t b = hx_container_find(container, name[0]);
  const size_t seed = hx_container_find(container, name[1]), a = hx_container_find(container, name[2]);
  const hx_layout_t layout = key_layout(reader->params, is_public);
  if (b == SIZE_MAX) return fail_tensor(reader, artifact, name[0], "is missing");
  if ((seed == SIZE_MAX) == (a == SIZE_MAX))
    return fail_tensor(reader, artifact, name[0], "needs a seed or an a, and not both");
  if (!has_shape(hx_container_get(container, b), &layout))
    return fail_tensor(reader, artifact, name[0], "has not the shape and dtype of a key of these parameters");
  half->has_seed = seed != SIZE_MAX;
  const hx_container_tensor_t *other = hx_container_get(container, half->has_seed ? seed : a);
  if (half->has_seed ? other->dtype != HX_U8 || other->rank != 1 || other->shape[0] != 32
                     : !has_shape(other, &layout)) {
    return fail_tensor(reader, artifact, other->name, "has not the shape and dtype of that half of a key");
  }
  if (hx_tensor_create(&layout, false, &half->tensor) != HX_STATUS_OK) return fail_memory(reader);
  half->b = (hx_artifact_rows_t){.tensor = half->tensor, .first_component = 0, .components = 1};
  half->a = (hx_artifact_rows_t){.tensor = half->tensor, .first_component = 1, .components = 1};
  const hx_container_runs_t b_runs = hx_artifact_runs(&half->b), a_runs = hx_artifact_runs(&half->a);
  hx_container_place(container, b, &b_runs);
  if (half->has_seed) {
    hx_container_place_at(container, seed, half->seed);
  } else {
    hx_container_place(container, a, &a_runs);
  }
  return HX_STATUS_OK;
}

static hx_status_t finish_half(const hx_key_reader_t *reader, const hx_artifact_t *artifact, const char *prefix,
                               hx_key_half_t *half) {
  if (half->has_seed) hx_artifact_expand(reader->params, half->seed, reader->ids, half->tensor);
  hx_report_t *own = hx_report_create();
  if (own == NULL) return fail_memory(reader);
  char what[96];
  snprintf(what, sizeof what, "key %s", prefix[0] == '\0' ? "public." : prefix);
  hx_status_t status =
      hx_tensor_check_residues(half->tensor, hx_params_ring(reader->params), reader->ids, 1, "the key", own);
  if (status != HX_STATUS_OK) status = hx_artifact_relay(artifact, what, own, reader->report);
  hx_report_release(own);
  return status;
}

static hx_status_t expect_tensors(const hx_key_reader_t *reader, const hx_artifact_t *artifact, size_t count) {
  const size_t found = hx_container_count(artifact->container);
  if (found == count) return HX_STATUS_OK;
  return hx_container_fail(artifact->container, reader->report, HX_CODE_FILE_FORMAT,
                           "the file has %zu tensors, and %zu make up its kind", found, count);
}

// A file that holds one key. *out_tensor is the caller's.
static hx_status_t read_one(const hx_key_reader_t *reader, hx_artifact_t *artifact, const char *prefix, bool is_public,
                            hx_tensor_t **out_tensor, uint8_t out_seed[32]) {
  hx_key_half_t half = {0};
  HX_TRY(expect_tensors(reader, artifact, 2));
  hx_status_t status = place_half(reader, artifact, prefix, is_public, &half);
  if (status == HX_STATUS_OK) status = hx_container_load(artifact->container, reader->report);
  if (status == HX_STATUS_OK) status = finish_half(reader, artifact, prefix, &half);
  if (status != HX_STATUS_OK) {
    hx_tensor_release(half.tensor);
    return status;
  }
  *out_tensor = half.tensor;
  memcpy(out_seed, half.seed, 32);
  return HX_STATUS_OK;
}

hx_status_t hx_keyfile_read_half(const hx_params_t *params, hx_artifact_t *artifact, const char *prefix,
                                 hx_tensor_t **out_tensor, uint8_t out_seed[32], hx_report_t *report) {
  hx_key_reader_t reader = {
      .directory = hx_container_source(artifact->container), .params = hx_params_retain(params), .report = report};
  for (uint32_t id = 0; id < HX_PRIMES_MAX; ++id) reader.ids[id] = id;
  const hx_status_t status = read_one(&reader, artifact, prefix, false, out_tensor, out_seed);
  hx_params_release(reader.params);
  return status;
}

static hx_status_t read_switch(hx_key_reader_t *reader, hx_artifact_t *artifact, const char *prefix, hx_key_kind_t kind,
                               uint64_t element, hx_switch_key_t **out) {
  hx_switch_key_t *key = hx_zalloc(1, sizeof *key);
  if (key == NULL) return fail_memory(reader);
  const hx_status_t status = read_one(reader, artifact, prefix, false, &key->tensor, key->seed);
  if (status != HX_STATUS_OK) {
    hx_free(key);
    return status;
  }
  key->kind = kind;
  key->element = element;
  *out = key;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ galois.hx

// ELEMENT of "galois_ELEMENT.b", odd, between 3 and 2N-3 (2N-1 is conjugation and has its own file); 0: another name.
static uint64_t element_of(const char *name, uint32_t log_n) {
  static const char prefix[] = "galois_";
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return 0;
  const char *digits = name + sizeof prefix - 1;
  const size_t count = strspn(digits, "0123456789");
  if (count == 0 || count > 6 || digits[0] == '0' || strcmp(digits + count, ".b") != 0) return 0;
  const uint64_t element = strtoull(digits, NULL, 10);
  return element % 2 == 1 && element > 1 && element < ((uint64_t)2 << log_n) - 1 ? element : 0;
}

static int by_element(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

// Places, loads, finishes `count` keys; the tensors go into keys[i] where all is well.
static hx_status_t read_halves(const hx_key_reader_t *reader, hx_artifact_t *artifact, const uint64_t *elements,
                               size_t count, hx_key_half_t *halves, hx_switch_key_t *keys) {
  char prefix[32];
  for (size_t i = 0; i < count; ++i) {
    snprintf(prefix, sizeof prefix, "galois_%llu.", (unsigned long long)elements[i]);
    HX_TRY(place_half(reader, artifact, prefix, false, &halves[i]));
  }
  HX_TRY(hx_container_load(artifact->container, reader->report));
  for (size_t i = 0; i < count; ++i) {
    snprintf(prefix, sizeof prefix, "galois_%llu.", (unsigned long long)elements[i]);
    HX_TRY(finish_half(reader, artifact, prefix, &halves[i]));
  }
  for (size_t i = 0; i < count; ++i) {
    keys[i] = (hx_switch_key_t){.kind = HX_KEY_GALOIS, .element = elements[i], .tensor = halves[i].tensor};
    memcpy(keys[i].seed, halves[i].seed, sizeof keys[i].seed);
    halves[i].tensor = NULL;
  }
  return HX_STATUS_OK;
}

static hx_status_t list_elements(const hx_key_reader_t *reader, const hx_artifact_t *artifact, uint64_t *elements,
                                 size_t *out_count) {
  const hx_container_t *container = artifact->container;
  size_t count = 0;
  for (size_t i = 0; i < hx_container_count(container); ++i) {
    const uint64_t element = element_of(hx_container_get(container, i)->name, hx_params_log_n(reader->params));
    if (element != 0) elements[count++] = element;
  }
  *out_count = count;
  if (count == 0)
    return hx_container_fail(container, reader->report, HX_CODE_FILE_FORMAT, "the file holds no rotation key");
  qsort(elements, count, sizeof *elements, by_element);
  return expect_tensors(reader, artifact, 2 * count);
}

static hx_status_t read_galois(hx_key_reader_t *reader, hx_artifact_t *artifact) {
  const size_t room = hx_container_count(artifact->container);
  uint64_t *elements = hx_zalloc(room, sizeof *elements);
  hx_key_half_t *halves = hx_zalloc(room, sizeof *halves);
  hx_switch_key_t *keys = hx_zalloc(room, sizeof *keys);
  size_t count = 0;
  hx_status_t status = elements == NULL || halves == NULL || keys == NULL
                           ? fail_memory(reader)
                           : list_elements(reader, artifact, elements, &count);
  if (status == HX_STATUS_OK) status = read_halves(reader, artifact, elements, count, halves, keys);
  if (status == HX_STATUS_OK) {
    reader->keys->galois = keys;
    reader->keys->galois_count = count;
    keys = NULL;
  }
  for (size_t i = 0; halves != NULL && i < count; ++i) hx_tensor_release(halves[i].tensor);
  hx_free(keys);
  hx_free(halves);
  hx_free(elements);
  return status;
}

// ------------------------------------------------------------------ secret.hx

static void check_permissions(const char *path) {
  struct stat facts;
  if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & 077) != 0) {
    hx_log(HX_LOG_WARNING, "keys", "%s can be read or written by others (mode %04o); make it 0600", path,
           (unsigned)(facts.st_mode & 07777));
  }
}

static hx_status_t unpack_secret(hx_key_reader_t *reader, hx_artifact_t *artifact, uint8_t *bytes, size_t n) {
  hx_container_place_at(artifact->container, 0, bytes);
  HX_TRY(hx_container_load(artifact->container, reader->report));
  int8_t *secret = hx_alloc(n);
  if (secret == NULL) return fail_memory(reader);
  if (!hx_keyfile_unpack_secret(bytes, n, hx_params_secret_weight(reader->params), secret)) {
    hx_wipe(secret, n);
    hx_free(secret);
    return fail_tensor(reader, artifact, "s",
                       "holds other values than 0, 1 and 2, or another number of nonzero ones than the parameters say");
  }
  reader->keys->secret = secret;
  return HX_STATUS_OK;
}

static hx_status_t read_secret(hx_key_reader_t *reader, hx_artifact_t *artifact) {
  const size_t n = (size_t)1 << hx_params_log_n(reader->params);
  check_permissions(hx_container_source(artifact->container));
  HX_TRY(expect_tensors(reader, artifact, 1));
  const hx_container_tensor_t *s = hx_container_get(artifact->container, 0);
  if (strcmp(s->name, "s") != 0 || s->dtype != HX_U8 || s->rank != 1 || s->shape[0] != n) {
    return fail_tensor(reader, artifact, s->name, "is not the secret: s, U8 [N]");
  }
  uint8_t *bytes = hx_alloc(n);
  if (bytes == NULL) return fail_memory(reader);
  const hx_status_t status = unpack_secret(reader, artifact, bytes, n);
  hx_wipe(bytes, n);
  hx_free(bytes);
  return status;
}

// ------------------------------------------------------------------ the directory

static hx_status_t read_part(hx_key_reader_t *reader, hx_artifact_t *artifact) {
  hx_keys_t *keys = reader->keys;
  switch (artifact->kind) {
    case HX_FILE_SECRET:
      return read_secret(reader, artifact);
    case HX_FILE_PUBLIC:
      return read_one(reader, artifact, "", true, &keys->public_key, keys->public_seed);
    case HX_FILE_RELIN:
      return read_switch(reader, artifact, "relin.", HX_KEY_RELIN, 0, &keys->relin);
    case HX_FILE_GALOIS:
      return read_galois(reader, artifact);
    default:
      return read_switch(reader, artifact, "conj.", HX_KEY_CONJ, ((uint64_t)2 << hx_params_log_n(reader->params)) - 1,
                         &keys->conj);
  }
}

// The first part decides whose keys these are; every other must agree.
static hx_status_t check_id(hx_key_reader_t *reader, const hx_artifact_t *artifact, const char *file) {
  if (reader->keys == NULL) {
    reader->keys = hx_keys_create(reader->params, artifact->key_id);
    snprintf(reader->first, sizeof reader->first, "%s", file);
    return reader->keys == NULL ? fail_memory(reader) : HX_STATUS_OK;
  }
  if (memcmp(reader->keys->id, artifact->key_id, sizeof artifact->key_id) == 0) return HX_STATUS_OK;
  char expected[33], found[33], text[160];
  sodium_bin2hex(expected, sizeof expected, reader->keys->id, 16);
  sodium_bin2hex(found, sizeof found, artifact->key_id, 16);
  snprintf(text, sizeof text, "the keys belong to another secret than those of %s", reader->first);
  return hx_report_add(reader->report,
                       &(hx_fault_t){.code = HX_CODE_KEY_ID,
                                     .source = hx_container_source(artifact->container),
                                     .text = text,
                                     .expected = expected,
                                     .found = found,
                                     .hint = "Remove the file that is not wanted, or make all keys again."});
}

static bool watch_file(void *context, uint64_t done) {
  const hx_key_reader_t *reader = context;
  const hx_load_options_t *options = reader->options;
  if (options->progress != NULL) options->progress(options->argument, reader->done + done, reader->total);
  return options->cancelled == NULL || !options->cancelled(options->argument);
}

static hx_status_t load_file(hx_key_reader_t *reader, const hx_keyfile_part_t *part, const char *path) {
  hx_artifact_t artifact;
  HX_TRY(hx_artifact_open(path, &artifact, reader->report));
  if (reader->options != NULL) hx_container_watch(artifact.container, watch_file, reader);
  hx_status_t status = hx_artifact_expect(&artifact, part->kind, reader->report);
  if (status == HX_STATUS_OK) status = hx_artifact_check_params(&artifact, reader->params, reader->report);
  if (status == HX_STATUS_OK) status = check_id(reader, &artifact, part->file);
  if (status == HX_STATUS_OK) status = read_part(reader, &artifact);
  if (status == HX_STATUS_OK) reader->keys->parts |= part->part;
  reader->done += hx_container_size(artifact.container);
  hx_artifact_close(&artifact);
  return status;
}

static hx_status_t load_part(hx_key_reader_t *reader, const hx_keyfile_part_t *part) {
  char *path = hx_keyfile_path(reader->directory, part->file);
  if (path == NULL) return fail_memory(reader);
  const bool absent = access(path, F_OK) != 0 && errno == ENOENT;
  const hx_status_t status = absent ? HX_STATUS_OK : load_file(reader, part, path);
  hx_free(path);
  return status;
}

// A set that says it is insecure was made so on purpose; its files say so too, and opening them logs it.
static hx_status_t load_params(hx_key_reader_t *reader) {
  char *path = hx_keyfile_path(reader->directory, HX_KEYFILE_PARAMS);
  if (path == NULL) return fail_memory(reader);
  hx_artifact_t artifact;
  hx_status_t status = hx_artifact_open(path, &artifact, reader->report);
  if (status == HX_STATUS_OK) {
    status = hx_params_read(&artifact, artifact.insecure ? HX_PARAMS_INSECURE : 0, &reader->params, reader->report);
    hx_artifact_close(&artifact);
  }
  hx_free(path);
  return status;
}

// Bytes of the files that will be read, for progress alone; what cannot be asked counts as nothing.
static uint64_t count_bytes(const char *directory, uint32_t parts) {
  uint64_t total = 0;
  for (size_t i = 0; i < HX_KEYFILE_PARTS; ++i) {
    if ((parts & hx_keyfile_parts[i].part) == 0) continue;
    char *path = hx_keyfile_path(directory, hx_keyfile_parts[i].file);
    struct stat facts;
    if (path != NULL && stat(path, &facts) == 0 && facts.st_size > 0) total += (uint64_t)facts.st_size;
    hx_free(path);
  }
  return total;
}

hx_status_t hx_keys_load(const char *directory, uint32_t parts, hx_keys_t **out, hx_report_t *report) {
  return hx_keys_load_with(directory, parts, NULL, out, report);
}

hx_status_t hx_keys_load_with(const char *directory, uint32_t parts, const hx_load_options_t *options, hx_keys_t **out,
                              hx_report_t *report) {
  if (directory == NULL || directory[0] == '\0')
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "no directory of keys");
  hx_key_reader_t reader = {.directory = directory, .report = report, .options = options};
  if (options != NULL) reader.total = count_bytes(directory, parts);
  for (uint32_t id = 0; id < HX_PRIMES_MAX; ++id) reader.ids[id] = id;
  hx_status_t status = load_params(&reader);
  for (size_t i = 0; status == HX_STATUS_OK && i < HX_KEYFILE_PARTS; ++i) {
    if ((parts & hx_keyfile_parts[i].part) != 0) status = load_part(&reader, &hx_keyfile_parts[i]);
  }
  if (status == HX_STATUS_OK && reader.keys != NULL) status = hx_keyfile_check_seeds(reader.keys, directory, report);
  if (status == HX_STATUS_OK && reader.keys == NULL) {
    static const uint8_t none[16] = {0};
    reader.keys = hx_keys_create(reader.params, none);
    if (reader.keys == NULL) status = fail_memory(&reader);
  }
  hx_params_release(reader.params);
  if (status != HX_STATUS_OK) {
    hx_keys_release(reader.keys);
    return status;
  }
  *out = reader.keys;
  return HX_STATUS_OK;
}
