// SPDX-License-Identifier: Apache-2.0
// Handwritten digits, recognised without being seen: the owner encrypts images, each in a ciphertext of its own; the
// server computes a network of two layers with square activations on them; the owner opens the scores. Usage: digits
// [IMAGES [DATA.csv MODEL.csv]]
//
// One image fills 64 slots again and again, so that the rotations of the first layer go round in it: 32 diagonals and
// one fold give the 32 hidden units, 16 diagonals and one fold the ten scores. Depth 3: a layer, the squares, a layer.
#include "examples/digits.h"
#include "examples/example.h"

// What the server has: the network, the parameters, evaluation keys.
typedef struct server {
  hx_engine_t *engine;
  hx_matrix_t *first, *second;
  hx_value_t *first_bias, *second_bias;
} server_t;

static uint32_t slots;

static int open_matrices(const digits_model_t *model, server_t *server) {
  const hx_matrix_options_t first = {
      .rows = DIGITS_HIDDEN, .columns = DIGITS_PIXELS, .slots = slots, .period = DIGITS_PIXELS};
  const hx_matrix_options_t second = {
      .rows = DIGITS_CLASSES, .columns = DIGITS_HIDDEN, .slots = slots, .period = DIGITS_HIDDEN};
  CHECK(hx_matrix_create(&first, &model->first[0][0], &server->first, report));
  CHECK(hx_matrix_create(&second, &model->second[0][0], &server->second, report));
  return 0;
}

// The steps that both layers rotate by: what the owner makes keys for.
static size_t rotations(const server_t *server, int64_t steps[256]) {
  const size_t count = hx_matrix_rotations(server->first, steps, 128);
  return count + hx_matrix_rotations(server->second, steps + count, 128);
}

// A bias at the depth and scale of the value that it is added to.
static int encode_bias(const hx_params_t *params, const double *bias, size_t count, uint32_t period, uint32_t depth,
                       hx_value_t **out) {
  double filled[DIGITS_PIXELS] = {0};
  memcpy(filled, bias, count * sizeof *bias);
  const hx_encode_options_t options = {.depth = depth, .period = period};
  CHECK(hx_encode(params, filled, period, false, &options, out, report));
  return 0;
}

static int classify(const server_t *server, const char *scale, const hx_value_t *image, hx_value_t **out) {
  hx_value_t *sum, *hidden, *three, *two, *squares, *scores;
  CHECK(hx_engine_matrix_vector(server->engine, server->first, image, scale, &sum, report));
  CHECK(hx_engine_add_plain(server->engine, sum, server->first_bias, &hidden, report));
  CHECK(hx_engine_square(server->engine, hidden, &three, report));
  CHECK(hx_engine_relinearize(server->engine, three, &two, report));
  CHECK(hx_engine_rescale(server->engine, two, &squares, report));
  CHECK(hx_engine_matrix_vector(server->engine, server->second, squares, scale, &scores, report));
  CHECK(hx_engine_add_plain(server->engine, scores, server->second_bias, out, report));
  hx_value_t *all[] = {sum, hidden, three, two, squares, scores};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) hx_value_release(all[i]);
  return 0;
}

// Encrypts a held-out image, has it classified, opens the scores; *out_class is the answer.
static int ask(const server_t *server, const hx_keys_t *keys, const char *scale, const double *pixels, int *out_class) {
  hx_value_t *plain, *image, *answer, *opened;
  const hx_encode_options_t options = {.period = DIGITS_PIXELS, .secret = true};
  CHECK(hx_engine_encode(server->engine, pixels, DIGITS_PIXELS, false, &options, &plain, report));
  CHECK(hx_engine_encrypt(server->engine, keys, plain, false, &image, report));
  if (classify(server, scale, image, &answer) != 0) return 1;
  CHECK(hx_engine_decrypt(server->engine, keys, answer, &opened, report));
  double *pairs = calloc(2 * (size_t)slots, sizeof *pairs), scores[DIGITS_CLASSES];
  if (pairs == NULL) return 1;
  CHECK(hx_engine_decode(server->engine, opened, pairs, report));
  for (int c = 0; c < DIGITS_CLASSES; ++c) scores[c] = pairs[2 * c];
  *out_class = digits_best(scores);
  free(pairs);
  hx_value_t *all[] = {plain, image, answer, opened};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) hx_value_release(all[i]);
  return 0;
}

static int run(const digits_data_t *data, const digits_model_t *model, size_t images) {
  session_t session = {0};
  server_t server = {0};
  int64_t steps[256];
  CHECK(hx_params_preset("n13-d3-s40", &session.params, report));
  slots = (uint32_t)1 << (hx_params_log_n(session.params) - 1);
  if (open_matrices(model, &server) != 0) return 1;
  const size_t count = rotations(&server, steps);
  const hx_keygen_options_t wanted = {
      .parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN | HX_KEYS_GALOIS, .rotations = steps, .rotation_count = count};
  CHECK(hx_keys_generate(session.params, &wanted, &session.keys, report));
  if (session_compute(&session) != 0) return 1;
  server.engine = session.engine;
  if (encode_bias(session.params, model->first_bias, DIGITS_HIDDEN, DIGITS_HIDDEN, 1, &server.first_bias) != 0)
    return 1;
  if (encode_bias(session.params, model->second_bias, DIGITS_CLASSES, 16, 3, &server.second_bias) != 0) return 1;

  size_t asked = 0, right = 0, plain_right = 0;
  for (size_t r = 0; r < data->rows && asked < images; ++r) {
    if (!digits_is_held_out(r)) continue;
    double hidden[DIGITS_HIDDEN], scores[DIGITS_CLASSES];
    int answer = -1;
    digits_scores(model, data->pixels[r], hidden, scores);
    if (ask(&server, session.keys, hx_params_scale(session.params), data->pixels[r], &answer) != 0) return 1;
    right += answer == data->labels[r];
    plain_right += digits_best(scores) == data->labels[r];
    ++asked;
  }
  printf("%zu rotation keys, %zu encrypted images\n", count, asked);
  printf("right: %zu encrypted, %zu in the clear\n", right, plain_right);
  hx_value_release(server.first_bias);
  hx_value_release(server.second_bias);
  hx_matrix_release(server.first);
  hx_matrix_release(server.second);
  session_close(&session);
  return (double)right >= 0.95 * (double)plain_right ? 0 : 1;
}

int main(int argc, char **argv) {
  static digits_data_t data;
  static digits_model_t model;
  const char *data_path = argc > 3 ? argv[2] : "examples/data/digits.csv";
  const char *model_path = argc > 3 ? argv[3] : "examples/data/digits-model.csv";
  if (!digits_read_data(data_path, &data) || !digits_read_model(model_path, &model)) return 1;
  report = hx_report_create();
  const int result = run(&data, &model, argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 20);
  hx_report_release(report);
  return result;
}
