// SPDX-License-Identifier: Apache-2.0
// keygen, encode, encrypt, decrypt.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/message.h"

// ------------------------------------------------------------------ keygen

typedef struct {
  int64_t *steps;
  size_t count, capacity;
  uint32_t parts;
  uint32_t slots;  // that the steps refer to; 0: not said yet
} wanted_t;

static hx_status_t want_step(wanted_t *wanted, int64_t step) {
  if (wanted->count == wanted->capacity) {
    const size_t capacity = wanted->capacity == 0 ? 64 : 2 * wanted->capacity;
    int64_t *steps = realloc(wanted->steps, capacity * sizeof *steps);
    if (steps == NULL) return HX_STATUS_OUT_OF_MEMORY;
    wanted->steps = steps;
    wanted->capacity = capacity;
  }
  wanted->steps[wanted->count++] = step;
  wanted->parts |= HX_KEYS_GALOIS;
  return HX_STATUS_OK;
}

// "1,2,-4".
static hx_status_t want_list(cli_t *cli, const char *list, wanted_t *wanted) {
  while (*list != '\0') {
    char *end;
    errno = 0;
    const long long step = strtoll(list, &end, 10);
    if (errno != 0 || end == list || (*end != ',' && *end != '\0')) {
      return hx_report_fail(cli->report, HX_CODE_USAGE,
                            "--rotations takes whole numbers separated by commas; '%s' is none", list);
    }
    const hx_status_t status = want_step(wanted, step);
    if (status != HX_STATUS_OK) return status;
    list = end + (*end == ',');
  }
  return HX_STATUS_OK;
}

static hx_status_t want_program(cli_t *cli, const char *path, const hx_params_t *params, wanted_t *wanted) {
  hx_program_t *program = NULL;
  hx_needs_t *needs = NULL;
  hx_status_t status = cli_load_program(cli, path, &program);
  if (status == HX_STATUS_OK) status = hx_program_needs(program, params, &needs, cli->report);
  if (status == HX_STATUS_OK) {
    const hx_program_needs_t *need = hx_needs_get(needs);
    wanted->parts |= need->parts;
    if (need->element_count > 0 && wanted->slots != 0 && wanted->slots != need->slots) {
      status = hx_report_fail(cli->report, HX_CODE_SLOTS_MISMATCH,
                              "%s rotates among %u slots, an earlier program among %u; make two key sets", path,
                              need->slots, wanted->slots);
    }
    if (need->element_count > 0) wanted->slots = need->slots;
    for (size_t i = 0; i < need->element_count && status == HX_STATUS_OK; ++i)
      status = want_step(wanted, need->steps[i]);
  }
  hx_needs_release(needs);
  hx_program_release(program);
  return status;
}

// --params, else the heliox.params of the programs of --for, which must agree with it.
static hx_status_t keygen_params(cli_t *cli, hx_params_t **out) {
  const char *name = cli_get(cli, "params");
  char from_program[128] = "";
  for (int i = 0; cli_get_at(cli, "for", i) != NULL; ++i) {
    const char *path = cli_get_at(cli, "for", i);
    hx_program_t *program = NULL;
    const hx_status_t status = cli_load_program(cli, path, &program);
    if (status != HX_STATUS_OK) return status;
    const char *wanted = hx_program_params(program);
    hx_status_t agreed = HX_STATUS_OK;
    if (wanted[0] != '\0' && from_program[0] != '\0' && strcmp(wanted, from_program) != 0) {
      agreed = hx_report_fail(cli->report, HX_CODE_PARAMS_DIGEST, "%s is for parameters %s, an earlier program for %s",
                              path, wanted, from_program);
    }
    if (wanted[0] != '\0') snprintf(from_program, sizeof from_program, "%s", wanted);
    hx_program_release(program);
    if (agreed != HX_STATUS_OK) return agreed;
  }
  if (name == NULL && from_program[0] == '\0') {
    return hx_report_fail(cli->report, HX_CODE_USAGE,
                          "heliox keygen needs --params, or --for with a program that names its parameters");
  }
  hx_status_t status = cli_params(cli, name != NULL ? name : from_program, out);
  if (status != HX_STATUS_OK || name == NULL || from_program[0] == '\0') return status;
  if (strcmp(from_program, hx_params_name(*out)) == 0 || strcmp(from_program, hx_params_digest_hex(*out)) == 0)
    return HX_STATUS_OK;
  status = hx_report_fail(cli->report, HX_CODE_PARAMS_DIGEST, "the program is for parameters %s, --params says %s",
                          from_program, name);
  hx_params_release(*out);
  *out = NULL;
  return status;
}

static hx_status_t keygen(cli_t *cli, const char *directory, hx_params_t *params, wanted_t *wanted, hx_keys_t **out) {
  hx_status_t status = HX_STATUS_OK;
  wanted->parts |= HX_KEYS_SECRET | HX_KEYS_PUBLIC;
  for (int i = 0; cli_get_at(cli, "for", i) != NULL && status == HX_STATUS_OK; ++i)
    status = want_program(cli, cli_get_at(cli, "for", i), params, wanted);
  for (int i = 0; cli_get_at(cli, "rotations", i) != NULL && status == HX_STATUS_OK; ++i)
    status = want_list(cli, cli_get_at(cli, "rotations", i), wanted);
  if (cli_has(cli, "conjugation")) wanted->parts |= HX_KEYS_CONJ;
  if (!cli_has(cli, "for")) wanted->parts |= hx_params_p_count(params) > 0 ? HX_KEYS_RELIN : 0;
  if (status != HX_STATUS_OK) return status;
  const hx_keygen_options_t options = {
      .parts = wanted->parts, .rotations = wanted->steps, .rotation_count = wanted->count, .slots = wanted->slots};
  status = hx_keys_generate(params, &options, out, cli->report);
  if (status != HX_STATUS_OK) return status;
  return hx_keys_save(*out, directory, HX_KEYS_ALL, cli_has(cli, "overwrite"), cli->report);
}

static void hex(const uint8_t *bytes, size_t size, char *out) {
  for (size_t i = 0; i < size; ++i) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static int report_keys(cli_t *cli, const hx_keys_t *keys, const char *directory) {
  const hx_params_t *params = hx_keys_params(keys);
  const uint32_t parts = hx_keys_parts(keys);
  const size_t galois = hx_keys_galois_elements(keys, NULL, 0);
  char id[33];
  hex(hx_keys_id(keys), 16, id);
  const size_t count = galois + ((parts & HX_KEYS_RELIN) != 0) + ((parts & HX_KEYS_CONJ) != 0);
  const double mebibytes = (double)count * (double)hx_params_key_bytes(params) / 1048576;
  if (cli->json) {
    return cli_print_json(json_pack(
        "{s:s, s:s, s:s, s:b, s:b, s:i, s:b, s:f}", "directory", directory, "params", hx_params_digest_hex(params),
        "key_id", id, "relinearization", (parts & HX_KEYS_RELIN) != 0, "conjugation", (parts & HX_KEYS_CONJ) != 0,
        "rotations", (int)galois, "insecure", hx_params_is_insecure(params), "evaluation_key_mib", mebibytes));
  }
  if (cli->quiet) return CLI_DONE;
  cli_print_params(stdout, params);
  printf("keys %s in %s: secret, public%s%s, %zu rotations; %.1f MiB of evaluation keys in memory\n", id, directory,
         (parts & HX_KEYS_RELIN) != 0 ? ", relinearization" : "", (parts & HX_KEYS_CONJ) != 0 ? ", conjugation" : "",
         galois, mebibytes);
  return CLI_DONE;
}

int cli_run_keygen(cli_t *cli) {
  const char *directory = NULL;
  CLI_TRY(cli, cli_need(cli, "output", &directory));
  hx_params_t *params = NULL;
  CLI_TRY(cli, keygen_params(cli, &params));
  wanted_t wanted = {0};
  hx_keys_t *keys = NULL;
  const hx_status_t status = keygen(cli, directory, params, &wanted, &keys);
  const int code = status == HX_STATUS_OK ? report_keys(cli, keys, directory) : cli_fail(cli, status);
  hx_keys_release(keys);
  free(wanted.steps);
  hx_params_release(params);
  return code;
}

// ------------------------------------------------------------------ switchkey

int cli_run_switchkey(cli_t *cli) {
  const char *from = NULL, *to = NULL, *output = NULL;
  CLI_TRY(cli, cli_need(cli, "from", &from));
  CLI_TRY(cli, cli_need(cli, "to", &to));
  CLI_TRY(cli, cli_need(cli, "output", &output));
  hx_keys_t *first = NULL, *second = NULL;
  hx_switch_t *key = NULL;
  hx_status_t status = hx_keys_load(from, HX_KEYS_SECRET, &first, cli->report);
  if (status == HX_STATUS_OK) status = hx_keys_load(to, HX_KEYS_SECRET, &second, cli->report);
  if (status == HX_STATUS_OK) status = hx_switch_generate(first, second, &key, cli->report);
  if (status == HX_STATUS_OK) status = hx_switch_save(key, output, cli_has(cli, "overwrite"), cli->report);
  int code = status == HX_STATUS_OK ? CLI_DONE : cli_fail(cli, status);
  if (status == HX_STATUS_OK) {
    char ids[2][33];
    hex(hx_switch_from_id(key), 16, ids[0]);
    hex(hx_switch_to_id(key), 16, ids[1]);
    const double mebibytes = (double)hx_params_key_bytes(hx_switch_params(key)) / 1048576;
    if (cli->json) {
      code = cli_print_json(json_pack("{s:s, s:s, s:s, s:s, s:b, s:f}", "file", output, "from_key_id", ids[0], "key_id",
                                      ids[1], "params", hx_params_digest_hex(hx_switch_params(key)), "insecure",
                                      hx_params_is_insecure(hx_switch_params(key)), "mib", mebibytes));
    } else {
      cli_say(cli, "%s: from key id %s to %s, %.1f MiB in memory\n", output, ids[0], ids[1], mebibytes);
    }
  }
  hx_switch_release(key);
  hx_keys_release(first);
  hx_keys_release(second);
  return code;
}

// ------------------------------------------------------------------ encode and encrypt

static hx_status_t encode_options(cli_t *cli, bool secret, hx_encode_options_t *out) {
  uint64_t slots, depth;
  hx_status_t status = cli_get_number(cli, "slots", UINT32_MAX, 0, &slots);
  if (status == HX_STATUS_OK && slots == 0 && cli_has(cli, "slots")) {
    status = hx_report_fail(cli->report, HX_CODE_SLOTS, "0 slots: the count must be a power of two from 1 to N/2");
  }
  if (status == HX_STATUS_OK) status = cli_get_number(cli, "depth", 1024, 0, &depth);
  if (status != HX_STATUS_OK) return status;
  *out = (hx_encode_options_t){
      .slots = (uint32_t)slots, .depth = (uint32_t)depth, .scale = cli_get(cli, "scale"), .secret = secret};
  const char *magnitude = cli_get(cli, "magnitude");
  if (magnitude == NULL) return HX_STATUS_OK;
  char *end = NULL;
  out->magnitude = strtod(magnitude, &end);
  if (end == magnitude || *end != '\0' || !isfinite(out->magnitude) || out->magnitude <= 0)
    return hx_report_fail(cli->report, HX_CODE_USAGE, "--magnitude takes a positive number, not '%s'", magnitude);
  return HX_STATUS_OK;
}

static hx_status_t encode_file(cli_t *cli, const hx_params_t *params, const char *input, bool secret,
                               hx_value_t **out) {
  hx_encode_options_t options;
  hx_status_t status = encode_options(cli, secret, &options);
  cli_message_t message = {0};
  if (status == HX_STATUS_OK) status = cli_message_read(input, &message, cli->report);
  if (status == HX_STATUS_OK) {
    status = message.items == 0
                 ? hx_encode(params, message.values, message.count, message.is_complex, &options, out, cli->report)
                 : hx_encode_batch(params, message.values, message.items, message.count, message.is_complex, &options,
                                   out, cli->report);
  }
  cli_message_free(&message);
  return status;
}

static int saved(cli_t *cli, const hx_value_t *value, const char *path) {
  char type[8192];
  hx_value_type_text(value, type, sizeof type);
  if (cli->json) {
    return cli_print_json(json_pack("{s:s, s:s, s:I, s:I, s:b}", "file", path, "type", type, "count",
                                    (json_int_t)hx_value_count(value), "bytes", (json_int_t)hx_value_bytes(value),
                                    "insecure", hx_params_is_insecure(hx_value_params(value))));
  }
  cli_say(cli, "%s: %llu values, %.2f MiB%s\n", path, (unsigned long long)hx_value_count(value),
          (double)hx_value_bytes(value) / 1048576,
          hx_params_is_insecure(hx_value_params(value)) ? ", INSECURE parameters" : "");
  return CLI_DONE;
}

static hx_status_t save_value(cli_t *cli, hx_value_t *value, const char *path) {
  const hx_named_value_t named = {.name = "value", .value = value};
  return hx_values_save(&named, 1, true, path, cli->report);
}

int cli_run_encode(cli_t *cli) {
  const char *name = NULL, *input = NULL, *output = NULL;
  CLI_TRY(cli, cli_need(cli, "params", &name));
  CLI_TRY(cli, cli_need(cli, "input", &input));
  CLI_TRY(cli, cli_need(cli, "output", &output));
  hx_params_t *params = NULL;
  CLI_TRY(cli, cli_params(cli, name, &params));
  hx_value_t *value = NULL;
  hx_status_t status = encode_file(cli, params, input, false, &value);
  if (status == HX_STATUS_OK) status = save_value(cli, value, output);
  const int code = status == HX_STATUS_OK ? saved(cli, value, output) : cli_fail(cli, status);
  hx_value_release(value);
  hx_params_release(params);
  return code;
}

int cli_run_encrypt(cli_t *cli) {
  const char *directory = NULL, *input = NULL, *output = NULL;
  CLI_TRY(cli, cli_need(cli, "keys", &directory));
  CLI_TRY(cli, cli_need(cli, "input", &input));
  CLI_TRY(cli, cli_need(cli, "output", &output));
  const bool symmetric = cli_has(cli, "symmetric");
  hx_keys_t *keys = NULL;
  hx_value_t *plaintext = NULL, *ciphertext = NULL;
  hx_status_t status = hx_keys_load(directory, symmetric ? HX_KEYS_SECRET : HX_KEYS_PUBLIC, &keys, cli->report);
  if (status == HX_STATUS_OK) status = encode_file(cli, hx_keys_params(keys), input, true, &plaintext);
  if (status == HX_STATUS_OK) status = hx_encrypt(keys, plaintext, symmetric, &ciphertext, cli->report);
  if (status == HX_STATUS_OK) status = save_value(cli, ciphertext, output);
  const int code = status == HX_STATUS_OK ? saved(cli, ciphertext, output) : cli_fail(cli, status);
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_keys_release(keys);
  return code;
}

// ------------------------------------------------------------------ decrypt

// Largest real (part 0) or imaginary part (1) among the values to be written.
static double largest_part(const double *pairs, size_t count, size_t part) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = fmax(largest, fabs(pairs[2 * i + part]));
  return largest;
}

// Slots stay below 12 predicted sigmas. What is predicted counts messages as bounded by what was declared for them (1);
// where the results are larger, so is the noise that products make of them.
static double noise_bound(const hx_value_noise_t *noise, double largest) {
  return 12 * noise->slot_sigma * fmax(1, largest / fmax(noise->magnitude, 1));
}

// Imaginary parts that are no noise are told, with their size; without a prediction any that is not lost in the reals'
// own rounding.
static void warn_imaginary(const hx_value_t *plaintext, double imaginary, double real) {
  hx_value_noise_t noise;
  hx_value_noise(plaintext, &noise);
  if (noise.known && imaginary > noise_bound(&noise, real)) {
    fprintf(stderr,
            "heliox: warning: imaginary parts up to %.3g are left out (predicted noise %.3g); --complex writes them\n",
            imaginary, noise_bound(&noise, real));
  } else if (!noise.known && imaginary > ldexp(1, -12) * fmax(1, real)) {
    fprintf(stderr,
            "heliox: warning: imaginary parts up to %.3g are left out (the file tells nothing of its noise); --complex "
            "writes them\n",
            imaginary);
  }
}

// The first `count` of each item's slots, real parts alone where not complex, moved together in place.
static void keep_values(double *pairs, size_t items, size_t slots, size_t count, bool is_complex) {
  const size_t width = is_complex ? 2 : 1;
  for (size_t item = 0; item < items; ++item)
    for (size_t i = 0; i < count; ++i)
      for (size_t part = 0; part < width; ++part)
        pairs[(item * count + i) * width + part] = pairs[2 * (item * slots + i) + part];
}

static hx_status_t write_decrypted(cli_t *cli, const hx_value_t *plaintext, const char *output) {
  uint64_t shape[4];
  const uint32_t rank = hx_value_batch(plaintext, shape);
  if (rank > 1)
    return hx_report_fail(cli->report, HX_CODE_UNSUPPORTED,
                          "the value has %u batch axes; files of numbers hold one axis of vectors", rank);
  const size_t slots = hx_value_slots(plaintext), items = rank == 0 ? 1 : (size_t)shape[0];
  size_t count = cli_has(cli, "all-slots") ? slots : (size_t)hx_value_count(plaintext);
  if (count > slots) count = slots;
  double *pairs = calloc(items * slots, 2 * sizeof *pairs);
  if (pairs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = hx_decode_batch(plaintext, pairs, cli->report);
  if (status == HX_STATUS_OK) {
    const bool complex_values = hx_value_is_complex(plaintext) || cli_has(cli, "complex");
    double real = 0, imaginary = 0;
    for (size_t i = 0; i < items; ++i) {
      real = fmax(real, largest_part(pairs + 2 * i * slots, count, 0));
      imaginary = fmax(imaginary, largest_part(pairs + 2 * i * slots, count, 1));
    }
    if (!complex_values) warn_imaginary(plaintext, imaginary, real);
    keep_values(pairs, items, slots, count, complex_values);
    const cli_message_t message = {
        .values = pairs, .count = count, .items = rank == 0 ? 0 : items, .is_complex = complex_values};
    status = cli_message_write(output, &message, cli->report);
  }
  free(pairs);
  return status;
}

static hx_status_t decrypt_value(cli_t *cli, const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out) {
  if (!cli_has(cli, "flood")) return hx_decrypt(keys, ciphertext, out, cli->report);
  uint64_t bits = 0;
  hx_flood_options_t options = {0};
  hx_status_t status = cli_get_number(cli, "flood", 1024, 0, &bits);
  if (status == HX_STATUS_OK) status = cli_get_number(cli, "queries", (uint64_t)1 << 48, 1, &options.queries);
  options.bits = (double)bits;
  if (status == HX_STATUS_OK) status = hx_decrypt_flooded(keys, ciphertext, &options, out, NULL, cli->report);
  if (status != HX_STATUS_OK || cli->quiet) return status;
  hx_value_noise_t noise;
  hx_value_noise(*out, &noise);
  fprintf(stderr,
          "flooded with %llu bits for %llu published results: slot noise %.3g (sigma), %.1f bits of precision\n",
          (unsigned long long)bits, (unsigned long long)options.queries, noise.slot_sigma, noise.precision);
  if (noise.precision < 1)
    fprintf(stderr,
            "heliox: warning: the noise is as large as values of size 1; choose a larger scale and N, or fewer bits\n");
  return HX_STATUS_OK;
}

int cli_run_decrypt(cli_t *cli) {
  const char *directory = NULL, *input = NULL, *output = NULL;
  CLI_TRY(cli, cli_need(cli, "keys", &directory));
  CLI_TRY(cli, cli_need(cli, "input", &input));
  CLI_TRY(cli, cli_need(cli, "output", &output));
  hx_keys_t *keys = NULL;
  hx_value_t *ciphertext = NULL, *plaintext = NULL;
  hx_status_t status = hx_keys_load(directory, HX_KEYS_SECRET, &keys, cli->report);
  if (status == HX_STATUS_OK)
    status = hx_value_load(input, cli_get(cli, "name"), hx_keys_params(keys), &ciphertext, cli->report);
  if (status == HX_STATUS_OK) status = decrypt_value(cli, keys, ciphertext, &plaintext);
  if (status == HX_STATUS_OK) status = write_decrypted(cli, plaintext, output);
  const int code = status == HX_STATUS_OK ? saved(cli, plaintext, output) : cli_fail(cli, status);
  hx_value_release(plaintext);
  hx_value_release(ciphertext);
  hx_keys_release(keys);
  return code;
}
