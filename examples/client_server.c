// SPDX-License-Identifier: Apache-2.0
// Client and server as two programs that share files: the client keeps the secret, the server has evaluation keys only.
//   client_server keygen CLIENT SERVER        keys into two directories; the server's has no secret
//   client_server encrypt CLIENT FILE X...    numbers into a ciphertext
//   client_server serve SERVER IN OUT         the server's work: x^2 + x
//   client_server decrypt CLIENT FILE COUNT
#include "examples/example.h"

static int keygen(const char *client, const char *server) {
  session_t s = {0};
  CHECK(hx_params_preset("n13-d3-s40", &s.params, report));
  const hx_keygen_options_t options = {.parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN};
  CHECK(hx_keys_generate(s.params, &options, &s.keys, report));
  CHECK(hx_keys_save(s.keys, client, HX_KEYS_ALL & ~(uint32_t)HX_KEYS_EVALUATION, false, report));
  CHECK(hx_keys_save(s.keys, server, HX_KEYS_EVALUATION, false, report));
  session_close(&s);
  return 0;
}

static int open_keys(const char *directory, uint32_t parts, session_t *s) {
  CHECK(hx_keys_load(directory, parts, &s->keys, report));
  s->params = hx_params_retain(hx_keys_params(s->keys));
  return 0;
}

static int encrypt(const char *client, const char *path, char **texts, int count) {
  session_t s = {0};
  double numbers[64];
  hx_named_value_t x = {.name = "x"};
  if (count < 1 || count > 64) return fprintf(stderr, "1 to 64 numbers are needed, %d are given\n", count), 2;
  for (int i = 0; i < count; ++i) numbers[i] = strtod(texts[i], NULL);
  if (open_keys(client, HX_KEYS_PUBLIC, &s) || session_encrypt(&s, numbers, (size_t)count, &x.value)) return 1;
  CHECK(hx_values_save(&x, 1, false, path, report));
  hx_value_release(x.value);
  session_close(&s);
  return 0;
}

// x^2 + x, at the depth and scale where both terms meet.
static int compute(hx_engine_t *engine, const hx_value_t *x, hx_value_t **out) {
  enum { THREE, TWO, SQUARE, LEFT, RIGHT, COUNT };
  hx_value_t *v[COUNT] = {NULL};
  CHECK(hx_engine_square(engine, x, &v[THREE], report));
  CHECK(hx_engine_relinearize(engine, v[THREE], &v[TWO], report));
  CHECK(hx_engine_rescale(engine, v[TWO], &v[SQUARE], report));
  CHECK(hx_engine_match(engine, v[SQUARE], x, &v[LEFT], &v[RIGHT], report));
  CHECK(hx_engine_add(engine, v[LEFT], v[RIGHT], out, report));
  for (int i = 0; i < COUNT; ++i) hx_value_release(v[i]);
  return 0;
}

static int serve(const char *server, const char *in, const char *out) {
  session_t s = {0};
  hx_value_t *x = NULL;
  hx_named_value_t result = {.name = "result"};
  if (open_keys(server, HX_KEYS_EVALUATION, &s) || session_compute(&s)) return 1;
  CHECK(hx_value_load(in, NULL, s.params, &x, report));
  if (compute(s.engine, x, &result.value)) return 1;
  CHECK(hx_values_save(&result, 1, false, out, report));
  hx_value_release(x);
  hx_value_release(result.value);
  session_close(&s);
  return 0;
}

static int decrypt(const char *client, const char *path, int count) {
  session_t s = {0};
  double numbers[64];
  hx_value_t *value = NULL;
  if (count < 1 || count > 64) return fprintf(stderr, "COUNT is 1 to 64, %d is given\n", count), 2;
  if (open_keys(client, HX_KEYS_SECRET, &s)) return 1;
  CHECK(hx_value_load(path, NULL, s.params, &value, report));
  if (session_decrypt(&s, value, numbers, (size_t)count)) return 1;
  for (int i = 0; i < count; ++i) printf("%.4f\n", numbers[i]);
  hx_value_release(value);
  session_close(&s);
  return 0;
}

int main(int argc, char **argv) {
  int status = 2;
  report = hx_report_create();
  const char *role = argc > 1 ? argv[1] : "";
  if (strcmp(role, "keygen") == 0 && argc == 4) {
    status = keygen(argv[2], argv[3]);
  } else if (strcmp(role, "encrypt") == 0 && argc > 4) {
    status = encrypt(argv[2], argv[3], argv + 4, argc - 4);
  } else if (strcmp(role, "serve") == 0 && argc == 5) {
    status = serve(argv[2], argv[3], argv[4]);
  } else if (strcmp(role, "decrypt") == 0 && argc == 5) {
    status = decrypt(argv[2], argv[3], (int)strtol(argv[4], NULL, 10));
  } else {
    fprintf(stderr,
            "usage: client_server keygen CLIENT SERVER | encrypt CLIENT FILE X... | serve SERVER IN OUT | "
            "decrypt CLIENT FILE COUNT\n");
  }
  hx_report_release(report);
  return status;
}
