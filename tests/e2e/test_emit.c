// SPDX-License-Identifier: Apache-2.0
// What emit writes: C that the system's compiler builds and that gives the bits of `heliox run`; pictures; bundles.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-emit.XXXXXX";
static command_t last;

static void run(const char *line) {
  command_run(&last, root, "LC_ALL=C S='" HELIOX_SOURCE_DIR "' B='" HELIOX_BUILD_DIR "'", line);
  if (last.exit_code != 0) fail_msg("%s: exit %d: %s", line, last.exit_code, last.errors);
}

static void run_fails(const char *line, int code, const char *piece) {
  command_run(&last, root, "LC_ALL=C", line);
  if (last.exit_code != code || strstr(last.errors, piece) == NULL)
    fail_msg("%s: exit %d: %s", line, last.exit_code, last.errors);
}

#define CT "!ckks.ciphertext<>"
#define CT_IN                                                                                                 \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^30\", domain = ntt, repr = standard, " \
  "slots = 2048>"
#define PT \
  "!ckks.plaintext<batch = [], depth = 0, scale = \"2^30\", basis = Q, domain = ntt, repr = standard, slots = 2048>"

// Squares, a product with a material, a function, a loop with two carried values, a branch.
static const char program[] =
    "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%a: " CT "):\n%r = \"ckks.rotate\"(%a) {step = 3 : i64} : (" CT
    ") -> " CT "\n%s = \"ckks.sub\"(%a, %r) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%s) : (" CT
    ") -> ()\n}) {sym_name = \"edge\", sym_visibility = \"private\", function_type = (" CT ") -> " CT
    "} : () -> ()\n\"func.func\"() ({\n^entry(%x: " CT_IN
    ", %n: index, %flag: i1):\n"
    "%zero = \"arith.constant\"() {value = 0 : index} : () -> index\n"
    "%one = \"arith.constant\"() {value = 1 : index} : () -> index\n"
    "%w = \"material.ref\"() {symbol = @w} : () -> " PT "\n%q = \"ckks.mul\"(%x, %x) : (" CT_IN ", " CT_IN ") -> " CT
    "\n%l = \"ckks.relinearize\"(%q) : (" CT ") -> " CT "\n%y = \"ckks.rescale\"(%l) : (" CT ") -> " CT
    "\n%p = \"ckks.mul_plain\"(%x, %w) : (" CT_IN ", " PT ") -> " CT "\n%z = \"ckks.rescale\"(%p) : (" CT ") -> " CT
    "\n%c = \"ckks.add_scalar\"(%y) {value = 0.25} : (" CT ") -> " CT
    "\n%r:3 = \"scf.for\"(%zero, %n, %one, %c, %z, %zero) ({\n^entry(%i: index, %u: " CT ", %v: " CT
    ", %t: index):\n%e = \"func.call\"(%u) {callee = @edge} : (" CT ") -> " CT "\n%f = \"ckks.add\"(%v, %e) : (" CT
    ", " CT ") -> " CT "\n%g = \"arith.addi\"(%t, %i) : (index, index) -> index\n\"scf.yield\"(%f, %u, %g) : (" CT
    ", " CT ", index) -> ()\n}) : (index, index, index, " CT ", " CT ", index) -> (" CT ", " CT
    ", index)\n"
    "%b = \"scf.if\"(%flag) ({\n%h = \"ckks.neg\"(%r#0) : (" CT ") -> " CT "\n\"scf.yield\"(%h) : (" CT
    ") -> ()\n}, {\n\"scf.yield\"(%r#1) : (" CT ") -> ()\n}) : (i1) -> " CT "\n\"func.return\"(%b, %r#2) : (" CT
    ", index) -> ()\n}) {sym_name = \"main\", function_type = (" CT_IN ", index, i1) -> (" CT
    ", index), arg_attrs = [{heliox.name = \"x\"}, {heliox.name = \"n\"}, {heliox.name = \"flag\"}], res_attrs = "
    "[{heliox.name = \"y\"}, {heliox.name = \"total\"}]} : () -> ()\n}) {heliox.version = 1 : i64, heliox.params = "
    "\"n12-d1-s30\"} : () -> ()\n";

// Runs both emitted files on the inputs and writes what they give.
static const char driver[] =
    "#include <heliox/heliox.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "hx_status_t program_run(hx_engine_t *, const hx_value_t *const *, const hx_value_t *const *, hx_value_t **,\n"
    "                        hx_report_t *);\n"
    "hx_status_t linked_link(const hx_params_t *, const hx_backend_t *, const hx_keys_t *, const hx_named_value_t *,\n"
    "                        size_t, hx_executable_t **, hx_report_t *);\n"
    "static hx_report_t *report;\n"
    "static void must(hx_status_t status) {\n  if (status == HX_STATUS_OK) return;\n"
    "  for (size_t i = 0; i < hx_report_count(report); ++i) fprintf(stderr, \"%s\\n\", hx_report_get(report, "
    "i)->text);\n"
    "  exit(1);\n}\n"
    "int main(int argc, char **argv) {\n  if (argc != 4) return 2;\n  report = hx_report_create();\n"
    "  hx_keys_t *keys = NULL;\n  hx_plugins_t *plugins = NULL;\n  hx_backend_t *backend = NULL;\n"
    "  hx_engine_t *engine = NULL;\n  hx_executable_t *linked = NULL;\n  hx_value_t *in[3], *w, *out[2] = {NULL, "
    "NULL};\n"
    "  must(hx_keys_load(\"keys\", HX_KEYS_EVALUATION, &keys, report));\n"
    "  const hx_params_t *params = hx_keys_params(keys);\n"
    "  const hx_plugins_options_t options = {.path = argv[1], .only_path = true};\n"
    "  must(hx_plugins_discover(&options, &plugins, report));\n"
    "  must(hx_backend_create(plugins, \"cpu\", &backend, report));\n"
    "  must(hx_value_load(\"x.hx\", NULL, params, &in[0], report));\n"
    "  must(hx_value_integer(params, \"index\", atoi(argv[2]), &in[1], report));\n"
    "  must(hx_value_integer(params, \"i1\", atoi(argv[3]), &in[2], report));\n"
    "  must(hx_value_load(\"w.hx\", NULL, params, &w, report));\n"
    "  const hx_value_t *const *inputs = (const hx_value_t *const *)in;\n"
    "  const hx_value_t *materials[] = {w};\n"
    "  must(hx_engine_create(params, keys, backend, &engine, report));\n"
    "  for (int round = 0; round < 2; ++round) {\n"
    "    if (round == 0) {\n      must(program_run(engine, inputs, materials, out, report));\n    } else {\n"
    "      const hx_named_value_t named = {.name = \"w\", .value = w};\n"
    "      must(linked_link(params, backend, keys, &named, 1, &linked, report));\n"
    "      must(hx_run(linked, inputs, out, report));\n    }\n"
    "    const hx_named_value_t named = {.name = \"y\", .value = out[0]};\n"
    "    must(hx_values_save(&named, 1, false, round == 0 ? \"eager.hx\" : \"linked.hx\", report));\n"
    "    printf(\"%lld\\n\", (long long)hx_value_get_integer(out[1]));\n"
    "    for (int i = 0; i < 2; ++i) {\n      hx_value_release(out[i]);\n      out[i] = NULL;\n    }\n  }\n"
    "  for (int i = 0; i < 3; ++i) hx_value_release(in[i]);\n"
    "  hx_value_release(w);\n  hx_executable_release(linked);\n  hx_engine_release(engine);\n  "
    "hx_backend_release(backend);\n"
    "  hx_plugins_release(plugins);\n  hx_keys_release(keys);\n  hx_report_release(report);\n  return 0;\n}\n";

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  command_write(root, "p.mlir", program);
  command_write(root, "driver.c", driver);
  command_write(root, "x.csv", "0.5\n-0.25\n0.75\n1\n");
  command_write(root, "w.csv", "1\n0.5\n-0.5\n0.125\n");
  run("$H keygen --for p.mlir -o keys -q && $H encrypt --keys keys -i x.csv -o x.hx -q && "
      "$H encode --params n12-d1-s30 -i w.csv -o w.hx -q");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void emitted_c_gives_the_bits_of_the_program(void **state) {
  (void)state;
  run("$H emit p.mlir --as eager-c -o eager.c && "
      "$H emit p.mlir --as backend-c --name linked --materials w=w.hx -o linked.c");
  run(HELIOX_CC
      " -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I\"$S\"/include -I\"$S\"/sdk/include "
      "eager.c "
      "linked.c driver.c -L\"$B\"/lib -lheliox -Wl,-rpath,\"$B\"/lib -o driver");
  static const char *const cases[] = {"0 0", "0 1", "1 1", "4 0", "5 1"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char line[512];
    const char count = cases[i][0], flag = cases[i][2];
    // The residues, 2 components of one row; what is predicted of noise goes with values of an engine alone.
    snprintf(line, sizeof line,
             "$H run p.mlir --keys keys -i x=x.hx -i n=%c -i flag=%c -o y=y.hx -o total=t.txt --materials w=w.hx -q && "
             "./driver \"$B\"/lib/heliox/plugins %s >d.txt && tail -c 65536 y.hx >bits && tail -c 65536 eager.hx | cmp "
             "- bits && tail -c 65536 linked.hx | cmp - bits && "
             "cat t.txt t.txt | cmp - d.txt",
             count, flag, cases[i]);
    run(line);
  }
}

static void emitted_tables_refuse_what_does_not_fit(void **state) {
  (void)state;
  // Another version of the library, another implementation.
  run("$H emit p.mlir --as backend-c --name linked --materials w=w.hx -o linked.c && "
      "$H emit p.mlir --as eager-c -o eager.c");
  run("sed 's/\\.version = \"[^\"]*\"/.version = \"0.0.0\"/' linked.c >old.c && sed 's,cpu/cpu,far/cpu,' "
      "linked.c "
      ">other.c");
  run("for f in old other; do " HELIOX_CC
      " -std=c17 -I\"$S\"/include -I\"$S\"/sdk/include eager.c $f.c driver.c -L\"$B\"/lib "
      "-lheliox -Wl,-rpath,\"$B\"/lib -o $f || exit 1; done");
  char line[512];
  snprintf(line, sizeof line, "./old '%s/lib/heliox/plugins' 1 1", HELIOX_BUILD_DIR);
  run_fails(line, 1, "was written by Heliox 0.0.0");
  snprintf(line, sizeof line, "./other '%s/lib/heliox/plugins' 1 1", HELIOX_BUILD_DIR);
  run_fails(line, 1, "far/cpu");
}

static void bundle_runs_as_its_program(void **state) {
  (void)state;
  run("$H compile p.mlir -o p.bundle --materials w=w.hx");
  run("$H run p.mlir --keys keys -i x=x.hx -i n=3 -i flag=1 -o y=y.hx --materials w=w.hx -q && "
      "$H run p.bundle --keys keys -i x=x.hx -i n=3 -i flag=1 -o y=b.hx -q && cmp y.hx b.hx");
  run("$H check p.bundle >c.txt && grep -q '^stored    @w' c.txt");
  run("$H emit p.bundle --as svg -o b.svg && grep -q 'scf.for' b.svg");
}

static void pictures_are_complete(void **state) {
  (void)state;
  run("for f in dot svg html; do $H emit p.mlir --as $f -o p.$f || exit 1; done");
  run("test \"$(grep -c 'class=\"n\"' p.svg)\" = \"$(grep -c '^    n[0-9]* \\[' p.dot)\"");
  run("grep -q '>depth 1<' p.svg && grep -q 'd1 2^' p.svg && grep -q 'ckks.rotate' p.svg && grep -q '</svg>' p.svg");
  run("grep -q '<script>' p.html && ! grep -q 'src=' p.html && ! grep -q 'https*://[^w]' p.html");
  run("$H emit p.mlir --as svg | cmp - p.svg");
  run_fails("$H emit p.mlir --as png", 2, "--as png: the forms are dot, svg, html, eager-c, host-c and backend-c");
  run_fails("$H emit p.mlir", 2, "--as");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(emitted_c_gives_the_bits_of_the_program),
      cmocka_unit_test(emitted_tables_refuse_what_does_not_fit),
      cmocka_unit_test(bundle_runs_as_its_program),
      cmocka_unit_test(pictures_are_complete),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
