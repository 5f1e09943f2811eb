typedef __builtin_va_list __gnuc_va_list;
typedef __gnuc_va_list va_list;
typedef long int ptrdiff_t;
typedef long unsigned int size_t;
typedef int wchar_t;
typedef struct {
  long long __max_align_ll __attribute__((__aligned__(__alignof__(long long))));
  long double __max_align_ld __attribute__((__aligned__(__alignof__(long double))));
} max_align_t;
typedef unsigned char __u_char;
typedef unsigned short int __u_short;
typedef unsigned int __u_int;
typedef unsigned long int __u_long;
typedef signed char __int8_t;
typedef unsigned char __uint8_t;
typedef signed short int __int16_t;
typedef unsigned short int __uint16_t;
typedef signed int __int32_t;
typedef unsigned int __uint32_t;
typedef signed long int __int64_t;
typedef unsigned long int __uint64_t;
typedef __int8_t __int_least8_t;
typedef __uint8_t __uint_least8_t;
typedef __int16_t __int_least16_t;
typedef __uint16_t __uint_least16_t;
typedef __int32_t __int_least32_t;
typedef __uint32_t __uint_least32_t;
typedef __int64_t __int_least64_t;
typedef __uint64_t __uint_least64_t;
typedef long int __quad_t;
typedef unsigned long int __u_quad_t;
typedef long int __intmax_t;
typedef unsigned long int __uintmax_t;
typedef unsigned long int __dev_t;
typedef unsigned int __uid_t;
typedef unsigned int __gid_t;
typedef unsigned long int __ino_t;
typedef unsigned long int __ino64_t;
typedef unsigned int __mode_t;
typedef unsigned long int __nlink_t;
typedef long int __off_t;
typedef long int __off64_t;
typedef int __pid_t;
typedef struct { int __val[2]; } __fsid_t;
typedef long int __clock_t;
typedef unsigned long int __rlim_t;
typedef unsigned long int __rlim64_t;
typedef unsigned int __id_t;
typedef long int __time_t;
typedef unsigned int __useconds_t;
typedef long int __suseconds_t;
typedef long int __suseconds64_t;
typedef int __daddr_t;
typedef int __key_t;
typedef int __clockid_t;
typedef void * __timer_t;
typedef long int __blksize_t;
typedef long int __blkcnt_t;
typedef long int __blkcnt64_t;
typedef unsigned long int __fsblkcnt_t;
typedef unsigned long int __fsblkcnt64_t;
typedef unsigned long int __fsfilcnt_t;
typedef unsigned long int __fsfilcnt64_t;
typedef long int __fsword_t;
typedef long int __ssize_t;
typedef long int __syscall_slong_t;
typedef unsigned long int __syscall_ulong_t;
typedef __off64_t __loff_t;
typedef char *__caddr_t;
typedef long int __intptr_t;
typedef unsigned int __socklen_t;
typedef int __sig_atomic_t;
typedef __int8_t int8_t;
typedef __int16_t int16_t;
typedef __int32_t int32_t;
typedef __int64_t int64_t;
typedef __uint8_t uint8_t;
typedef __uint16_t uint16_t;
typedef __uint32_t uint32_t;
typedef __uint64_t uint64_t;
typedef __int_least8_t int_least8_t;
typedef __int_least16_t int_least16_t;
typedef __int_least32_t int_least32_t;
typedef __int_least64_t int_least64_t;
typedef __uint_least8_t uint_least8_t;
typedef __uint_least16_t uint_least16_t;
typedef __uint_least32_t uint_least32_t;
typedef __uint_least64_t uint_least64_t;
typedef signed char int_fast8_t;
typedef long int int_fast16_t;
typedef long int int_fast32_t;
typedef long int int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned long int uint_fast16_t;
typedef unsigned long int uint_fast32_t;
typedef unsigned long int uint_fast64_t;
typedef long int intptr_t;
typedef unsigned long int uintptr_t;
typedef __intmax_t intmax_t;
typedef __uintmax_t uintmax_t;
typedef enum hx_status {
HX_STATUS_OK,
HX_STATUS_INVALID,
HX_STATUS_REFUSED,
HX_STATUS_NOT_FOUND,
HX_STATUS_EXISTS,
HX_STATUS_AMBIGUOUS,
HX_STATUS_UNSUPPORTED,
HX_STATUS_UNAVAILABLE,
HX_STATUS_CORRUPT,
HX_STATUS_IO,
HX_STATUS_OUT_OF_MEMORY,
HX_STATUS_BUSY,
HX_STATUS_CANCELLED,
HX_STATUS_DEVICE_LOST,
HX_STATUS_INTERNAL,
  HX_STATUS_COUNT
} hx_status_t;
typedef enum hx_gate {
HX_GATE_NONE,
HX_GATE_DISCOVER,
HX_GATE_FILE_SAFETY,
HX_GATE_PARSE,
HX_GATE_SCHEMA,
HX_GATE_HOST_MATCH,
HX_GATE_DIGEST,
HX_GATE_ELF,
HX_GATE_NOTE,
HX_GATE_OPEN,
HX_GATE_NEGOTIATE,
HX_GATE_TABLE,
HX_GATE_PROBE,
HX_GATE_INIT,
  HX_GATE_COUNT
} hx_gate_t;
typedef enum hx_code {
HX_CODE_NONE,
HX_CODE_DISABLED,
HX_CODE_SHADOWED,
HX_CODE_SEARCH_PATH,
HX_CODE_PRIVILEGED,
HX_CODE_FILE_PERMISSIONS,
HX_CODE_LIBRARY_PATH,
HX_CODE_MANIFEST_PARSE,
HX_CODE_MANIFEST_SCHEMA,
HX_CODE_TARGET,
HX_CODE_ISA,
HX_CODE_DIGEST,
HX_CODE_SIGNATURE,
HX_CODE_LOCK,
HX_CODE_ELF_FORMAT,
HX_CODE_ELF_ARCH,
HX_CODE_ELF_POLICY,
HX_CODE_SANITIZER,
HX_CODE_EXPORTS,
HX_CODE_DEPENDENCY,
HX_CODE_SYMBOL,
HX_CODE_NOTE,
HX_CODE_ABI_FIELD,
HX_CODE_ABI_RANGE,
HX_CODE_LAYOUT_HASH,
HX_CODE_OPEN,
HX_CODE_TABLE_SHORT,
HX_CODE_ARGS_SIZE,
HX_CODE_NULL_ENTRY,
HX_CODE_REGISTRATION,
HX_CODE_CONFLICT,
HX_CODE_DEVICE,
HX_CODE_SELF_TEST,
HX_CODE_INIT,
HX_CODE_CAPABILITY,
HX_CODE_BUSY,
HX_CODE_CANCELLED,
HX_CODE_PLUGIN_CALL,
HX_CODE_DEVICE_LOST,
HX_CODE_BACKEND,
HX_CODE_AMBIGUOUS,
HX_CODE_IMPLEMENTATION,
HX_CODE_CONSTRAINT,
HX_CODE_MATERIAL,
HX_CODE_RESOURCE,
HX_CODE_OUTPUT_STATE,
HX_CODE_INPUT,
HX_CODE_DEVICE_MIX,
HX_CODE_SHAPE,
HX_CODE_OUT_OF_MEMORY,
HX_CODE_SYNTAX,
HX_CODE_CUSTOM_FORM,
HX_CODE_LIMIT,
HX_CODE_UNKNOWN_OPERATION,
HX_CODE_OPERANDS,
HX_CODE_ATTRIBUTE,
HX_CODE_TYPE,
HX_CODE_SSA,
HX_CODE_SYMBOL_NAME,
HX_CODE_PASS,
HX_CODE_SCALE_MISMATCH,
HX_CODE_SCALE_RANGE,
HX_CODE_DEPTH_MISMATCH,
HX_CODE_NO_DEPTH,
HX_CODE_SLOTS_MISMATCH,
HX_CODE_COMPONENTS,
HX_CODE_DOMAIN,
HX_CODE_PRIMES,
HX_CODE_RESIDUE,
HX_CODE_PARAMS,
HX_CODE_INSECURE,
HX_CODE_SPECIAL_SIZE,
HX_CODE_PARAMS_DIGEST,
HX_CODE_KEY_ID,
HX_CODE_MISSING_KEY,
HX_CODE_SECRET,
HX_CODE_SEED_REUSE,
HX_CODE_VALUE,
HX_CODE_LENGTH,
HX_CODE_SLOTS,
HX_CODE_FILE_FORMAT,
HX_CODE_FILE_VERSION,
HX_CODE_FILE_KIND,
HX_CODE_FILE_TRUNCATED,
HX_CODE_FILE_INTEGRITY,
HX_CODE_FILE_EXISTS,
HX_CODE_IO,
HX_CODE_TEXT_FORMAT,
HX_CODE_USAGE,
HX_CODE_DIFFERS,
HX_CODE_INTERNAL,
HX_CODE_INVALID_ARGUMENT,
HX_CODE_UNSUPPORTED,
HX_CODE_IMPLEMENTATION_EXISTS,
HX_CODE_UNPREPARED,
HX_CODE_RANK_DIGEST,
HX_CODE_RANK_MISMATCH,
HX_CODE_RANK_MISSING,
  HX_CODE_COUNT
} hx_code_t;
typedef struct hx_code_info {
  hx_code_t code;
  const char *word;
  hx_status_t status;
  hx_gate_t gate;
  const char *meaning;
  const char *remedy;
} hx_code_info_t;
 const char *hx_status_name(hx_status_t status) { __builtin_trap(); }
 const char *hx_gate_name(hx_gate_t gate) { __builtin_trap(); }
 const hx_code_info_t *hx_code_info(hx_code_t code) { __builtin_trap(); }
 const hx_code_info_t *hx_code_find(const char *word) { __builtin_trap(); }
typedef struct hx_str {
  const char *data;
  size_t size;
} hx_str_t;
 hx_str_t hx_str(const char *text) { __builtin_trap(); }
 _Bool hx_str_equal(hx_str_t a, hx_str_t b) { __builtin_trap(); }
typedef struct hx_fault {
  hx_code_t code;
  uint32_t line;
  uint32_t column;
  const char *source;
  const char *text;
  const char *expected;
  const char *found;
  const char *hint;
} hx_fault_t;
typedef struct hx_report hx_report_t;
 hx_report_t *hx_report_create(void) { __builtin_trap(); }
 void hx_report_release(hx_report_t *report) { __builtin_trap(); }
 size_t hx_report_count(const hx_report_t *report) { __builtin_trap(); }
 const hx_fault_t *hx_report_get(const hx_report_t *report, size_t index) { __builtin_trap(); }
 void hx_report_clear(hx_report_t *report) { __builtin_trap(); }
 hx_status_t hx_report_add(hx_report_t *report, const hx_fault_t *fault) { __builtin_trap(); }
 hx_status_t hx_report_fail(hx_report_t *report, hx_code_t code, const char *format, ...)  { __builtin_trap(); }
 hx_status_t hx_report_fail_at(hx_report_t *report, hx_code_t code, const char *source, uint32_t line,
                                     uint32_t column, const char *format, ...)  { __builtin_trap(); }
typedef void (*hx_log_sink_t)(void *argument, int level, const char *area, const char *text);
 void hx_log_set_sink(hx_log_sink_t sink, void *argument) { __builtin_trap(); }
  hx_status_t hx_log_set_filter(const char *filter, hx_report_t *report) { __builtin_trap(); }
 void hx_threads_set(uint32_t count) { __builtin_trap(); }
 uint32_t hx_threads_get(void) { __builtin_trap(); }
 const char *hx_version(void) { __builtin_trap(); }
 const char *hx_plugin_abi(void) { __builtin_trap(); }
typedef struct hx_params hx_params_t;
enum {
  HX_PARAMS_INSECURE = 1
};
 size_t hx_params_preset_count(void) { __builtin_trap(); }
 const char *hx_params_preset_name(size_t index) { __builtin_trap(); }
 const char *hx_params_preset_purpose(size_t index) { __builtin_trap(); }
 const char *hx_params_default_name(void) { __builtin_trap(); }
  hx_status_t hx_params_preset(const char *name, hx_params_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_params_parse(hx_str_t json, const char *source, uint32_t flags, hx_params_t **out,
                                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_params_with_digits(const hx_params_t *params, uint32_t digits, uint32_t flags,
                                                     hx_params_t **out, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_params_wish {
  uint32_t depth;
  double precision;
  uint32_t scale_bits;
  uint32_t log_n;
  uint32_t slots;
  uint32_t word;
  uint32_t digits;
  uint32_t group_primes;
  uint32_t base_bits;
  uint32_t special_bits;
  uint32_t weight;
  _Bool no_special;
} hx_params_wish_t;
  hx_status_t hx_params_make(const hx_params_wish_t *wish, uint32_t flags, hx_params_t **out,
                                              hx_report_t *report) { __builtin_trap(); }
typedef struct hx_params_precision {
  double fresh;
  double multiplied;
  double rotated;
  double deepest;
  double drift_log2;
} hx_params_precision_t;
 void hx_params_precision(const hx_params_t *params, hx_params_precision_t *out) { __builtin_trap(); }
 hx_params_t *hx_params_retain(const hx_params_t *params) { __builtin_trap(); }
 void hx_params_release(hx_params_t *params) { __builtin_trap(); }
 const char *hx_params_name(const hx_params_t *params) { __builtin_trap(); }
 const char *hx_params_json(const hx_params_t *params) { __builtin_trap(); }
 const uint8_t *hx_params_digest(const hx_params_t *params) { __builtin_trap(); }
 const char *hx_params_digest_hex(const hx_params_t *params) { __builtin_trap(); }
 _Bool hx_params_is_insecure(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_log_n(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_word(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_q_count(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_p_count(const hx_params_t *params) { __builtin_trap(); }
 uint64_t hx_params_prime(const hx_params_t *params, uint32_t id) { __builtin_trap(); }
 uint32_t hx_params_group_count(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_group_size(const hx_params_t *params, uint32_t group) { __builtin_trap(); }
 uint32_t hx_params_max_depth(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_digits_asked(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_digits(const hx_params_t *params) { __builtin_trap(); }
 const char *hx_params_scale(const hx_params_t *params) { __builtin_trap(); }
 const char *hx_params_secret(const hx_params_t *params) { __builtin_trap(); }
 double hx_params_log2_q(const hx_params_t *params) { __builtin_trap(); }
 double hx_params_log2_p(const hx_params_t *params) { __builtin_trap(); }
 uint32_t hx_params_security_limit(const hx_params_t *params) { __builtin_trap(); }
 uint64_t hx_params_key_bytes(const hx_params_t *params) { __builtin_trap(); }
 uint64_t hx_params_ciphertext_bytes(const hx_params_t *params) { __builtin_trap(); }
typedef struct hx_value hx_value_t;
typedef enum hx_value_kind {
  HX_VALUE_CIPHERTEXT,
  HX_VALUE_PLAINTEXT,
  HX_VALUE_TENSOR,
  HX_VALUE_NUMBER
} hx_value_kind_t;
 hx_value_t *hx_value_retain(const hx_value_t *value) { __builtin_trap(); }
 void hx_value_release(hx_value_t *value) { __builtin_trap(); }
 hx_value_kind_t hx_value_kind(const hx_value_t *value) { __builtin_trap(); }
 const hx_params_t *hx_value_params(const hx_value_t *value) { __builtin_trap(); }
 const uint8_t *hx_value_key_id(const hx_value_t *value) { __builtin_trap(); }
 uint32_t hx_value_depth(const hx_value_t *value) { __builtin_trap(); }
 uint32_t hx_value_components(const hx_value_t *value) { __builtin_trap(); }
 uint32_t hx_value_slots(const hx_value_t *value) { __builtin_trap(); }
 uint32_t hx_value_limbs(const hx_value_t *value) { __builtin_trap(); }
 double hx_value_scale_log2(const hx_value_t *value) { __builtin_trap(); }
 uint64_t hx_value_count(const hx_value_t *value) { __builtin_trap(); }
 _Bool hx_value_is_complex(const hx_value_t *value) { __builtin_trap(); }
 _Bool hx_value_is_secret(const hx_value_t *value) { __builtin_trap(); }
 uint64_t hx_value_bytes(const hx_value_t *value) { __builtin_trap(); }
  hx_status_t hx_value_integer(const hx_params_t *params, const char *type, int64_t number,
                                                hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_real(const hx_params_t *params, double number, hx_value_t **out,
                                             hx_report_t *report) { __builtin_trap(); }
 int64_t hx_value_get_integer(const hx_value_t *value) { __builtin_trap(); }
 double hx_value_get_real(const hx_value_t *value) { __builtin_trap(); }
 size_t hx_value_type_text(const hx_value_t *value, char *text, size_t size) { __builtin_trap(); }
 _Bool hx_value_equal(const hx_value_t *a, const hx_value_t *b) { __builtin_trap(); }
typedef struct hx_encode_options {
  uint32_t slots;
  uint32_t depth;
  const char *scale;
  _Bool secret;
  _Bool weighted;
  uint32_t period;
  double magnitude;
} hx_encode_options_t;
  hx_status_t hx_encode(const hx_params_t *params, const double *values, size_t count,
                                         _Bool complex_values, const hx_encode_options_t *options, hx_value_t **out,
                                         hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_encode_coefficients(const hx_params_t *params, const double *values, size_t count,
                                                      const hx_encode_options_t *options, hx_value_t **out,
                                                      hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_decode_coefficients(const hx_value_t *plaintext, double *out_values,
                                                      hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_decode(const hx_value_t *plaintext, double *out_values, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_value_noise {
  _Bool known;
  double rms;
  double slot_rms;
  double slot_sigma;
  double precision;
  double magnitude;
  double headroom_bits;
} hx_value_noise_t;
 void hx_value_noise(const hx_value_t *value, hx_value_noise_t *out) { __builtin_trap(); }
 uint32_t hx_value_batch(const hx_value_t *value, uint64_t *out_shape) { __builtin_trap(); }
  hx_status_t hx_value_stack(const hx_value_t *const *values, size_t count, hx_value_t **out,
                                              hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_select(const hx_value_t *value, uint32_t axis, uint64_t index, hx_value_t **out,
                                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_slice(const hx_value_t *value, uint32_t axis, uint64_t first, uint64_t count,
                                              hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_unbind(const hx_value_t *value, hx_value_t **outs, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_encode_batch(const hx_params_t *params, const double *values, size_t items,
                                               size_t count, _Bool complex_values, const hx_encode_options_t *options,
                                               hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_decode_batch(const hx_value_t *plaintext, double *out_values, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_compact hx_compact_t;
  hx_status_t hx_plaintext_compact(const hx_value_t *plaintext, hx_compact_t **out,
                                                    hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compact_expand(const hx_compact_t *compact, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
 hx_compact_t *hx_compact_retain(const hx_compact_t *compact) { __builtin_trap(); }
 void hx_compact_release(hx_compact_t *compact) { __builtin_trap(); }
 uint64_t hx_compact_bytes(const hx_compact_t *compact) { __builtin_trap(); }
typedef struct hx_keys hx_keys_t;
enum {
  HX_KEYS_SECRET = 1,
  HX_KEYS_PUBLIC = 2,
  HX_KEYS_RELIN = 4,
  HX_KEYS_GALOIS = 8,
  HX_KEYS_CONJ = 16,
  HX_KEYS_EVALUATION = HX_KEYS_RELIN | HX_KEYS_GALOIS | HX_KEYS_CONJ,
  HX_KEYS_ALL = 31
};
typedef struct hx_keygen_options {
  uint32_t parts;
  const int64_t *rotations;
  size_t rotation_count;
  uint32_t slots;
} hx_keygen_options_t;
  hx_status_t hx_keys_generate(const hx_params_t *params, const hx_keygen_options_t *options,
                                                hx_keys_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_keys_load(const char *directory, uint32_t parts, hx_keys_t **out,
                                            hx_report_t *report) { __builtin_trap(); }
typedef struct hx_load_options {
  _Bool (*cancelled)(void *argument);
  void (*progress)(void *argument, uint64_t done, uint64_t total);
  void *argument;
} hx_load_options_t;
  hx_status_t hx_keys_load_with(const char *directory, uint32_t parts,
                                                 const hx_load_options_t *options, hx_keys_t **out,
                                                 hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_keys_save(const hx_keys_t *keys, const char *directory, uint32_t parts,
                                            _Bool overwrite, hx_report_t *report) { __builtin_trap(); }
 hx_keys_t *hx_keys_retain(const hx_keys_t *keys) { __builtin_trap(); }
 void hx_keys_release(hx_keys_t *keys) { __builtin_trap(); }
 const hx_params_t *hx_keys_params(const hx_keys_t *keys) { __builtin_trap(); }
 const uint8_t *hx_keys_id(const hx_keys_t *keys) { __builtin_trap(); }
 uint32_t hx_keys_parts(const hx_keys_t *keys) { __builtin_trap(); }
 size_t hx_keys_galois_elements(const hx_keys_t *keys, uint64_t *out_elements, size_t room) { __builtin_trap(); }
  hx_status_t hx_keys_rotation_plan(const hx_keys_t *keys, uint32_t slots, int64_t step,
                                                     int64_t *out_steps, size_t room, size_t *out_count,
                                                     hx_report_t *report) { __builtin_trap(); }
typedef struct hx_switch hx_switch_t;
  hx_status_t hx_switch_generate(const hx_keys_t *from, const hx_keys_t *to, hx_switch_t **out,
                                                  hx_report_t *report) { __builtin_trap(); }
 hx_switch_t *hx_switch_retain(const hx_switch_t *key) { __builtin_trap(); }
 void hx_switch_release(hx_switch_t *key) { __builtin_trap(); }
 const hx_params_t *hx_switch_params(const hx_switch_t *key) { __builtin_trap(); }
 const uint8_t *hx_switch_from_id(const hx_switch_t *key) { __builtin_trap(); }
 const uint8_t *hx_switch_to_id(const hx_switch_t *key) { __builtin_trap(); }
  hx_status_t hx_switch_save(const hx_switch_t *key, const char *path, _Bool overwrite,
                                              hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_switch_load(const char *path, const hx_params_t *params, hx_switch_t **out,
                                              hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_encrypt(const hx_keys_t *keys, const hx_value_t *plaintext, _Bool symmetric,
                                          hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_decrypt(const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out,
                                          hx_report_t *report) { __builtin_trap(); }
typedef struct hx_flood_options {
  double bits;
  uint64_t queries;
  double error_rms;
} hx_flood_options_t;
  hx_status_t hx_decrypt_flooded(const hx_keys_t *keys, const hx_value_t *ciphertext,
                                                  const hx_flood_options_t *options, hx_value_t **out,
                                                  double *out_sigma, hx_report_t *report) { __builtin_trap(); }
typedef enum hx_file_kind {
  HX_FILE_PARAMS,
  HX_FILE_SECRET,
  HX_FILE_PUBLIC,
  HX_FILE_RELIN,
  HX_FILE_GALOIS,
  HX_FILE_CONJ,
  HX_FILE_SWITCH,
  HX_FILE_CIPHERTEXT,
  HX_FILE_PLAINTEXT,
  HX_FILE_MESSAGE,
  HX_FILE_BUNDLE
} hx_file_kind_t;
typedef struct hx_named_value {
  const char *name;
  hx_value_t *value;
} hx_named_value_t;
  hx_status_t hx_file_kind(const char *path, hx_file_kind_t *out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_params_save(const hx_params_t *params, const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_params_load(const char *path, uint32_t flags, hx_params_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_values_save(const hx_named_value_t *values, size_t count, _Bool allow_secret,
                                              const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_values_load(const char *path, const hx_params_t *params,
                                              hx_named_value_t **out_values, size_t *out_count, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_load(const char *path, const char *name, const hx_params_t *params,
                                             hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_values_free(hx_named_value_t *values, size_t count) { __builtin_trap(); }
typedef enum hx_plugin_state {
  HX_PLUGIN_USABLE,
  HX_PLUGIN_UNAVAILABLE,
  HX_PLUGIN_REFUSED,
  HX_PLUGIN_DISABLED,
  HX_PLUGIN_SHADOWED
} hx_plugin_state_t;
typedef struct hx_plugin_record {
  const char *id;
  const char *name;
  const char *version;
  const char *vendor;
  const char *description;
  const char *manifest;
  const char *library;
  hx_plugin_state_t state;
  hx_gate_t gate;
  hx_code_t code;
  const char *text;
  const char *expected;
  const char *found;
  const char *hint;
  int priority;
} hx_plugin_record_t;
typedef struct hx_gate_result {
  hx_gate_t gate;
  hx_code_t code;
  const char *text;
  const char *expected;
  const char *found;
  const char *hint;
} hx_gate_result_t;
typedef struct hx_plugin_operation {
  const char *type;
  const char *implementation;
  uint32_t signature;
  uint32_t log_n_min;
  uint32_t log_n_max;
  uint32_t prime_bits_min;
  uint32_t prime_bits_max;
  _Bool in_place;
  _Bool bit_exact;
  _Bool explicit_only;
} hx_plugin_operation_t;
typedef enum hx_signatures {
  HX_SIGNATURES_DEFAULT,
  HX_SIGNATURES_OFF,
  HX_SIGNATURES_WARN,
  HX_SIGNATURES_REQUIRE
} hx_signatures_t;
typedef struct hx_plugins_options {
  const char *path;
  _Bool only_path;
  _Bool ignore_environment;
  const char *lock;
  hx_signatures_t signatures;
  const char *trust;
} hx_plugins_options_t;
typedef struct hx_plugins hx_plugins_t;
  hx_status_t hx_plugins_discover(const hx_plugins_options_t *options, hx_plugins_t **out,
                                                   hx_report_t *report) { __builtin_trap(); }
 void hx_plugins_release(hx_plugins_t *plugins) { __builtin_trap(); }
 size_t hx_plugins_count(const hx_plugins_t *plugins) { __builtin_trap(); }
 const hx_plugin_record_t *hx_plugins_get(const hx_plugins_t *plugins, size_t index) { __builtin_trap(); }
 const hx_plugin_record_t *hx_plugins_find(const hx_plugins_t *plugins, const char *name) { __builtin_trap(); }
 size_t hx_plugins_search_path(const hx_plugins_t *plugins, const char *const **out_places) { __builtin_trap(); }
 size_t hx_plugins_operations(const hx_plugins_t *plugins, size_t index, const hx_plugin_operation_t **out) { __builtin_trap(); }
 const char *hx_plugins_manifest(const hx_plugins_t *plugins, size_t index) { __builtin_trap(); }
typedef struct hx_plugin_check hx_plugin_check_t;
  hx_status_t hx_plugin_check(const char *manifest_path, hx_plugin_check_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_plugin_check_with(const char *manifest_path, const hx_plugins_options_t *options,
                                                    hx_plugin_check_t **out, hx_report_t *report) { __builtin_trap(); }
 size_t hx_plugin_check_results(const hx_plugin_check_t *check, const hx_gate_result_t **out_results) { __builtin_trap(); }
 void hx_plugin_check_release(hx_plugin_check_t *check) { __builtin_trap(); }
typedef struct hx_device_verdict {
  const char *device;
  const char *name;
  const char *driver;
  uint32_t tested;
  uint32_t skipped;
  uint64_t microseconds;
  hx_code_t code;
  const char *text;
  const char *expected;
  const char *found;
  const char *uuid;
  uint64_t memory_bytes;
  uint64_t alignment;
  uint32_t compute_units;
  _Bool uses_host_memory;
  _Bool records_graphs;
  _Bool encodes;
  uint64_t peers;
  uint64_t peers_linked;
} hx_device_verdict_t;
typedef struct hx_plugin_probe hx_plugin_probe_t;
  hx_status_t hx_plugin_devices(const char *manifest_path, const hx_plugins_options_t *options,
                                                 hx_plugin_probe_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_plugin_probe(const char *manifest_path, const hx_plugins_options_t *options,
                                               hx_plugin_probe_t **out, hx_report_t *report) { __builtin_trap(); }
 size_t hx_plugin_probe_devices(const hx_plugin_probe_t *probe, const hx_device_verdict_t **out) { __builtin_trap(); }
 void hx_plugin_probe_release(hx_plugin_probe_t *probe) { __builtin_trap(); }
  hx_status_t hx_plugins_lock(const hx_plugins_t *plugins, const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_plugins_verify(const hx_plugins_t *plugins, const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_signing_key_create(const char *secret_path, const char *public_path,
                                                     hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_manifest_sign(const char *manifest_path, const char *secret_path,
                                                hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_manifest_complete(const char *template_path, const char *library,
                                                    const char *out_path, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_backend hx_backend_t;
  hx_status_t hx_backend_create(hx_plugins_t *plugins, const char *list, hx_backend_t **out,
                                                 hx_report_t *report) { __builtin_trap(); }
 hx_backend_t *hx_backend_retain(const hx_backend_t *backend) { __builtin_trap(); }
 void hx_backend_release(hx_backend_t *backend) { __builtin_trap(); }
struct hx_impl;
  hx_status_t hx_backend_with_implementation(const hx_backend_t *backend, const void *hx_impl_record,
                                                              hx_backend_t **out, hx_report_t *report) { __builtin_trap(); }
 size_t hx_backend_available(const hx_backend_t *backend, const char *operation, const char **out_names,
                                   size_t room) { __builtin_trap(); }
typedef struct hx_program hx_program_t;
enum { HX_PRINT_SHORT = 1, HX_PRINT_ALIASES = 2 };
  hx_status_t hx_program_parse(hx_str_t text, const char *source, hx_program_t **out,
                                                hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_program_load(const char *path, hx_program_t **out, hx_report_t *report) { __builtin_trap(); }
 hx_program_t *hx_program_retain(const hx_program_t *program) { __builtin_trap(); }
 void hx_program_release(hx_program_t *program) { __builtin_trap(); }
  hx_status_t hx_program_print(const hx_program_t *program, uint32_t flags, char **out_text,
                                                hx_report_t *report) { __builtin_trap(); }
 void hx_text_free(char *text) { __builtin_trap(); }
 const char *hx_program_params(const hx_program_t *program) { __builtin_trap(); }
typedef struct hx_port {
  const char *name;
  const char *role;
  const char *type;
} hx_port_t;
 size_t hx_program_inputs(const hx_program_t *program, const hx_port_t **out_ports) { __builtin_trap(); }
 size_t hx_program_outputs(const hx_program_t *program, const hx_port_t **out_ports) { __builtin_trap(); }
typedef struct hx_program_needs {
  uint32_t parts;
  const uint64_t *elements;
  const int64_t *steps;
  size_t element_count;
  uint32_t depth;
  uint32_t slots;
} hx_program_needs_t;
typedef struct hx_needs hx_needs_t;
  hx_status_t hx_program_needs(const hx_program_t *program, const hx_params_t *params,
                                                hx_needs_t **out, hx_report_t *report) { __builtin_trap(); }
 const hx_program_needs_t *hx_needs_get(const hx_needs_t *needs) { __builtin_trap(); }
 void hx_needs_release(hx_needs_t *needs) { __builtin_trap(); }
typedef struct hx_compilation hx_compilation_t;
  hx_status_t hx_compilation_create(const hx_program_t *program, const hx_params_t *params,
                                                     hx_compilation_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_compilation_release(hx_compilation_t *compilation) { __builtin_trap(); }
 const hx_params_t *hx_compilation_params(const hx_compilation_t *compilation) { __builtin_trap(); }
  hx_status_t hx_compilation_name_params(hx_compilation_t *compilation, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compilation_bind_keys(hx_compilation_t *compilation, const hx_keys_t *keys,
                                                        hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compilation_bind_switch(hx_compilation_t *compilation, const char *symbol,
                                                          const hx_switch_t *key, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compilation_bind_material(hx_compilation_t *compilation, const char *symbol,
                                                            const hx_value_t *value, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compilation_encode_material(hx_compilation_t *compilation, const char *symbol,
                                                              const double *values, size_t count, _Bool complex_values,
                                                              hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compilation_encode_materials(hx_compilation_t *compilation, const char *symbol,
                                                               const double *values, size_t items, size_t count,
                                                               _Bool complex_values, hx_report_t *report) { __builtin_trap(); }
 size_t hx_compilation_materials(const hx_compilation_t *compilation, const hx_port_t **out_ports) { __builtin_trap(); }
  hx_status_t hx_compilation_transform(hx_compilation_t *compilation, const char *pipeline,
                                                        hx_report_t *report) { __builtin_trap(); }
 const hx_program_t *hx_compilation_program(const hx_compilation_t *compilation) { __builtin_trap(); }
typedef struct hx_executable hx_executable_t;
  hx_status_t hx_link(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                       const char *pipeline, hx_executable_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_link_check(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                             const char *pipeline, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_linking hx_linking_t;
typedef struct hx_link_pass {
  const char *name;
  const char *doc;
  hx_status_t (*run)(hx_linking_t *linking, void *argument, hx_report_t *report);
  void *argument;
} hx_link_pass_t;
 size_t hx_link_standard_passes(const hx_link_pass_t **out_passes) { __builtin_trap(); }
  hx_status_t hx_link_with(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                            const char *pipeline, const hx_link_pass_t *passes, size_t pass_count,
                                            hx_executable_t **out, hx_report_t *report) { __builtin_trap(); }
 const hx_program_t *hx_linking_program(const hx_linking_t *linking) { __builtin_trap(); }
  hx_status_t hx_linking_transform(hx_linking_t *linking, const char *pipeline, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_linking_assign(hx_linking_t *linking, const char *operation,
                                                 const char *implementation, hx_report_t *report) { __builtin_trap(); }
 hx_executable_t *hx_executable_retain(const hx_executable_t *executable) { __builtin_trap(); }
 void hx_executable_release(hx_executable_t *executable) { __builtin_trap(); }
 size_t hx_executable_inputs(const hx_executable_t *executable, const hx_port_t **out_ports) { __builtin_trap(); }
 size_t hx_executable_outputs(const hx_executable_t *executable, const hx_port_t **out_ports) { __builtin_trap(); }
 const char *hx_executable_manifest(const hx_executable_t *executable) { __builtin_trap(); }
 const char *hx_executable_source(const hx_executable_t *executable) { __builtin_trap(); }
typedef struct hx_run_stats {
  uint64_t slab_bytes;
  uint64_t
      peak_bytes;
  uint64_t unshared_bytes;
  uint64_t calls;
  uint64_t runs;
  uint64_t mod_ups;
  uint64_t mod_downs;
  double seconds;
  uint64_t recordings;
  uint64_t replays;
  uint64_t updates;
} hx_run_stats_t;
  hx_status_t hx_run(hx_executable_t *executable, const hx_value_t *const *inputs,
                                      hx_value_t **outputs, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_trace hx_trace_t;
typedef struct hx_record hx_record_t;
typedef struct hx_run_options {
  _Bool (*cancelled)(void *argument);
  void *argument;
  hx_trace_t *trace;
  hx_record_t *record;
  const hx_record_t *replay;
  void (*progress)(void *argument, uint64_t done, uint64_t total);
  _Bool apart;
} hx_run_options_t;
  hx_status_t hx_run_with(hx_executable_t *executable, const hx_value_t *const *inputs,
                                           hx_value_t **outputs, const hx_run_options_t *options, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_compilation_note_noise(const hx_compilation_t *compilation,
                                                         const hx_value_t *const *inputs, hx_value_t *const *outputs,
                                                         hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_to_device(const hx_value_t *value, const hx_backend_t *backend,
                                                  hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_value_to_host(const hx_value_t *value, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_executable_stats(const hx_executable_t *executable, hx_run_stats_t *out) { __builtin_trap(); }
typedef struct hx_diff_options {
  const char *pipeline;
  _Bool deep;
  uint64_t tolerance;
} hx_diff_options_t;
typedef struct hx_difference {
  _Bool differs;
  uint64_t calls;
  uint64_t values;
  uint64_t secrets;
  size_t call;
  const char *operation;
  const char *value;
  const char *implementation_a;
  const char *implementation_b;
  uint32_t line;
  uint32_t column;
  uint64_t item;
  uint32_t digit;
  uint32_t component;
  uint32_t limb;
  uint32_t prime_id;
  uint64_t prime;
  uint64_t index;
  uint64_t a;
  uint64_t b;
} hx_difference_t;
typedef struct hx_diff hx_diff_t;
  hx_status_t hx_diff(const hx_compilation_t *compilation, const hx_backend_t *a,
                                       const hx_backend_t *b, const hx_diff_options_t *options,
                                       const hx_value_t *const *inputs, hx_diff_t **out, hx_report_t *report) { __builtin_trap(); }
 const hx_difference_t *hx_diff_get(const hx_diff_t *diff) { __builtin_trap(); }
 void hx_diff_release(hx_diff_t *diff) { __builtin_trap(); }
typedef struct hx_bundle_options {
  const char *pipeline;
  const char *const *materials;
  size_t material_count;
} hx_bundle_options_t;
  hx_status_t hx_bundle_save(const hx_compilation_t *compilation, const hx_bundle_options_t *options,
                                              const char *path, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_bundle_material {
  const char *symbol;
  const char *type;
  uint64_t bytes;
  const char *of;
} hx_bundle_material_t;
typedef struct hx_bundle hx_bundle_t;
typedef struct hx_bundle_info {
  const char *params_digest;
  const char *pipeline;
  const char *requires_text;
  _Bool insecure;
  uint64_t program_bytes;
  const hx_bundle_material_t *materials;
  size_t material_count;
} hx_bundle_info_t;
  hx_status_t hx_bundle_inspect(const char *path, hx_bundle_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_bundle_release(hx_bundle_t *bundle) { __builtin_trap(); }
 void hx_bundle_info(const hx_bundle_t *bundle, hx_bundle_info_t *out) { __builtin_trap(); }
  hx_status_t hx_bundle_load(const char *path, const hx_params_t *params, hx_compilation_t **out,
                                              hx_report_t *report) { __builtin_trap(); }
typedef struct hx_engine hx_engine_t;
  hx_status_t hx_engine_create(const hx_params_t *params, const hx_keys_t *keys,
                                                const hx_backend_t *backend, hx_engine_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_engine_release(hx_engine_t *engine) { __builtin_trap(); }
 const hx_params_t *hx_engine_params(const hx_engine_t *engine) { __builtin_trap(); }
 _Bool hx_engine_is_capturing(const hx_engine_t *engine) { __builtin_trap(); }
typedef struct hx_engine_noise {
  const char *operation;
  size_t result;
  uint32_t depth;
  _Bool known;
  double predicted;
  double measured;
  double worst;
  double sigmas;
} hx_engine_noise_t;
typedef void (*hx_engine_noise_fn)(void *argument, const hx_engine_noise_t *noise);
  hx_status_t hx_engine_watch_noise(hx_engine_t *engine, const hx_keys_t *keys,
                                                     hx_engine_noise_fn watch, void *argument, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_sub(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_neg(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext,
                                     hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_sub_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext,
                                     hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext,
                                     hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, hx_value_t **out,
                                      hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, const char *scale,
                                      hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_integer(hx_engine_t *engine, const hx_value_t *a, int64_t integer, hx_value_t **out,
                                       hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_square(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_relinearize(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rescale(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_level_drop(hx_engine_t *engine, const hx_value_t *a, uint32_t depth, hx_value_t **out,
                                      hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_reinterpret_scale(hx_engine_t *engine, const hx_value_t *a, const char *scale,
                                             hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_to_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_from_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rotate(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out,
                                  hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_conjugate(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_key_switch(hx_engine_t *engine, const hx_value_t *a, const hx_switch_t *key,
                                      hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_i(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_sum(hx_engine_t *engine, const hx_value_t *a, uint32_t axis, hx_value_t **out,
                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_weighted_sum(hx_engine_t *engine, const hx_value_t *const *values, size_t count,
                                        const hx_value_t *const *weights, size_t groups, hx_value_t **outs,
                                        hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rotate_many(hx_engine_t *engine, const hx_value_t *a, const int64_t *steps, size_t count,
                                       hx_value_t **outs, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rotate_weighted_sum(hx_engine_t *engine, const hx_value_t *a, const int64_t *steps,
                                               size_t count, const hx_value_t *const *weights, size_t groups,
                                               hx_value_t **outs, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rotate_sum(hx_engine_t *engine, const hx_value_t *const *values, const int64_t *steps,
                                      size_t count, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
typedef enum hx_plain_purpose { HX_PLAIN_ADD, HX_PLAIN_MUL, HX_PLAIN_WEIGHTED } hx_plain_purpose_t;
  hx_status_t hx_engine_prepare_plain(hx_engine_t *engine, const hx_value_t *plaintext, hx_plain_purpose_t purpose,
                                         hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *b,
                                       hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_sub_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *b,
                                       hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_neg_inplace(hx_engine_t *engine, hx_value_t **value, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                             hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_sub_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                             hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                             hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add_scalar_inplace(hx_engine_t *engine, hx_value_t **value, double re, double im,
                                              hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_scalar_inplace(hx_engine_t *engine, hx_value_t **value, double re, double im,
                                              const char *scale, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_integer_inplace(hx_engine_t *engine, hx_value_t **value, int64_t integer,
                                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rotate_composed(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out,
                                           hx_report_t *report) { __builtin_trap(); }
typedef enum hx_domain { HX_DOMAIN_NTT, HX_DOMAIN_COEFFICIENT } hx_domain_t;
  hx_status_t hx_engine_relinearize_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain,
                                          hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rescale_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                      hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_rotate_to(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_domain_t domain,
                                     hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_key_switch_to(hx_engine_t *engine, const hx_value_t *a, const hx_switch_t *key,
                                         hx_domain_t domain, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_conjugate_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                        hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_add_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                       hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_sub_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                       hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_mul_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                       hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_encode(hx_engine_t *engine, const double *values, size_t count, _Bool complex_values,
                                  const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_decode(hx_engine_t *engine, const hx_value_t *plaintext, double *out_values,
                                  hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_encrypt(hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *plaintext,
                                   _Bool symmetric, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_decrypt(hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *ciphertext,
                                   hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_generate_keys(hx_engine_t *engine, const hx_keygen_options_t *options, hx_keys_t **out,
                                         hx_report_t *report) { __builtin_trap(); }
typedef enum hx_codec_promise {
  HX_CODEC_NONE,
  HX_CODEC_WITHIN,
  HX_CODEC_EXACT
} hx_codec_promise_t;
typedef struct hx_codec {
  hx_codec_promise_t promise;
  double bound;
} hx_codec_t;
 void hx_engine_codec(const hx_engine_t *engine, hx_codec_t *out) { __builtin_trap(); }
  hx_status_t hx_engine_encode_device(hx_engine_t *engine, const double *values, size_t items, size_t count,
                                         _Bool complex_values, const hx_encode_options_t *options,
                                         hx_codec_promise_t least, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_decode_device(hx_engine_t *engine, const hx_value_t *plaintext, hx_codec_promise_t least,
                                         double *out_values, hx_report_t *report) { __builtin_trap(); }
typedef hx_status_t (*hx_function_t)(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                                     void *argument, hx_report_t *report);
typedef struct hx_input_spec {
  const char *name;
  const char *role;
  const char *type;
  const hx_value_t *number;
} hx_input_spec_t;
typedef struct hx_capture_spec {
  hx_function_t function;
  void *argument;
  const hx_input_spec_t *inputs;
  size_t input_count;
  size_t output_count;
  const char *const *output_names;
  const hx_named_value_t *materials;
  size_t material_count;
} hx_capture_spec_t;
  hx_status_t hx_capture(const hx_params_t *params, const hx_capture_spec_t *spec,
                                          hx_compilation_t **out, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_compiled_callable hx_callable_t;
typedef enum hx_on_miss {
  HX_ON_MISS_COMPILE,
  HX_ON_MISS_ERROR
} hx_on_miss_t;
typedef struct hx_signature hx_signature_t;
 size_t hx_signature_count(const hx_signature_t *signature) { __builtin_trap(); }
 const char *hx_signature_type(const hx_signature_t *signature, size_t index) { __builtin_trap(); }
 _Bool hx_signature_number(const hx_signature_t *signature, size_t index, int64_t *out) { __builtin_trap(); }
typedef struct hx_callable_spec {
  hx_function_t function;
  void *argument;
  const hx_program_t *program;
  const hx_compilation_t *compilation;
  const hx_params_t *params;
  const hx_keys_t *keys;
  const hx_backend_t *backend;
  const char *pipeline;
  const char *(*choose_pipeline)(void *argument, const hx_signature_t *signature);
  void *choose_argument;
  hx_on_miss_t on_miss;
  const hx_input_spec_t *inputs;
  size_t input_count;
  size_t output_count;
  const char *const *output_names;
  const hx_named_value_t
      *materials;
  size_t material_count;
} hx_callable_spec_t;
  hx_status_t hx_callable_create(const hx_callable_spec_t *spec, hx_callable_t **out,
                                                  hx_report_t *report) { __builtin_trap(); }
 hx_callable_t *hx_callable_retain(const hx_callable_t *callable) { __builtin_trap(); }
 void hx_callable_release(hx_callable_t *callable) { __builtin_trap(); }
 size_t hx_callable_inputs(const hx_callable_t *callable) { __builtin_trap(); }
 size_t hx_callable_outputs(const hx_callable_t *callable) { __builtin_trap(); }
  hx_status_t hx_callable_prepare(hx_callable_t *callable, const hx_value_t *const *inputs,
                                                   hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_callable_call(hx_callable_t *callable, const hx_value_t *const *inputs,
                                                hx_value_t **outputs, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_callable_with_backend(const hx_callable_t *callable, const hx_backend_t *backend,
                                                        hx_callable_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_callable_clear(hx_callable_t *callable) { __builtin_trap(); }
typedef struct hx_specialization {
  const char *signature;
  const char *pipeline;
  const hx_backend_t *backend;
  const hx_program_t *program;
  const hx_executable_t *executable;
} hx_specialization_t;
 size_t hx_callable_specializations(const hx_callable_t *callable) { __builtin_trap(); }
 _Bool hx_callable_specialization(const hx_callable_t *callable, size_t index, hx_specialization_t *out) { __builtin_trap(); }
typedef struct hx_builder hx_builder_t;
typedef struct hx_node hx_node_t;
typedef struct hx_node_options {
  uint32_t slots;
  uint32_t depth;
  const char *scale;
  _Bool weighted;
} hx_node_options_t;
  hx_status_t hx_builder_create(const hx_params_t *params, hx_builder_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_builder_release(hx_builder_t *builder) { __builtin_trap(); }
  hx_status_t hx_builder_input(hx_builder_t *builder, const char *name,
                                                const hx_node_options_t *options, hx_node_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_plain(hx_builder_t *builder, const double *values, size_t count,
                                                _Bool complex_values, const hx_node_options_t *options, hx_node_t **out,
                                                hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_op(hx_builder_t *builder, const char *operation, hx_node_t *const *operands,
                                             size_t operand_count, const char *attributes, hx_node_t **results,
                                             size_t result_count, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_output(hx_builder_t *builder, const char *name, hx_node_t *node,
                                                 hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_finish(hx_builder_t *builder, hx_program_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_bind(const hx_builder_t *builder, hx_compilation_t *compilation,
                                               hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_match(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out_a,
                                 hx_value_t **out_b, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_match(hx_builder_t *builder, hx_node_t *a, hx_node_t *b, hx_node_t **out_a,
                                                hx_node_t **out_b, hx_report_t *report) { __builtin_trap(); }
typedef enum hx_polynomial_basis {
  HX_POLYNOMIAL_POWER,
  HX_POLYNOMIAL_CHEBYSHEV
} hx_polynomial_basis_t;
typedef struct hx_polynomial {
  const double *coefficients;
  size_t count;
  hx_polynomial_basis_t basis;
  double low;
  double high;
  const char *scale;
} hx_polynomial_t;
typedef struct hx_polynomial_cost {
  uint32_t degree;
  uint32_t depth;
  uint32_t products;
  uint32_t constants;
} hx_polynomial_cost_t;
  hx_status_t hx_polynomial_cost(const hx_params_t *params, const hx_polynomial_t *polynomial,
                                                  const char *scale, hx_polynomial_cost_t *out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_engine_polynomial(hx_engine_t *engine, const hx_value_t *x, const hx_polynomial_t *polynomial,
                                      hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_builder_polynomial(hx_builder_t *builder, hx_node_t *x,
                                                     const hx_polynomial_t *polynomial, hx_node_t **out,
                                                     hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_chebyshev_fit(double (*function)(double x, void *argument), void *argument,
                                                double low, double high, uint32_t degree, double *coefficients,
                                                hx_report_t *report) { __builtin_trap(); }
typedef struct hx_matrix hx_matrix_t;
typedef struct hx_matrix_options {
  size_t rows;
  size_t columns;
  _Bool is_complex;
  uint32_t slots;
  uint32_t period;
  uint32_t baby;
  _Bool compact;
} hx_matrix_options_t;
  hx_status_t hx_matrix_create(const hx_matrix_options_t *options, const double *entries,
                                                hx_matrix_t **out, hx_report_t *report) { __builtin_trap(); }
 hx_matrix_t *hx_matrix_retain(const hx_matrix_t *matrix) { __builtin_trap(); }
 void hx_matrix_release(hx_matrix_t *matrix) { __builtin_trap(); }
 size_t hx_matrix_rotations(const hx_matrix_t *matrix, int64_t *out_steps, size_t room) { __builtin_trap(); }
typedef struct hx_matrix_cost {
  size_t diagonals;
  uint32_t baby;
  uint32_t giant;
  uint32_t folds;
  uint32_t period;
} hx_matrix_cost_t;
 void hx_matrix_cost(const hx_matrix_t *matrix, hx_matrix_cost_t *out) { __builtin_trap(); }
  hx_status_t hx_engine_matrix_vector(hx_engine_t *engine, hx_matrix_t *matrix, const hx_value_t *x,
                                         const char *scale, hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
typedef enum hx_matrix_form {
  HX_MATRIX_PLAIN,
  HX_MATRIX_MERGED
} hx_matrix_form_t;
  hx_status_t hx_builder_matrix_vector(hx_builder_t *builder, const hx_matrix_t *matrix, hx_node_t *x,
                                                        const char *scale, hx_matrix_form_t form, hx_node_t **out,
                                                        hx_report_t *report) { __builtin_trap(); }
typedef enum hx_emit_form {
  HX_EMIT_DOT,
  HX_EMIT_SVG,
  HX_EMIT_HTML,
  HX_EMIT_EAGER_C
} hx_emit_form_t;
  hx_status_t hx_emit(const hx_program_t *program, hx_emit_form_t form, char **out_text,
                                       hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_emit_executable(const hx_executable_t *executable, const char *name, char **out_text,
                                                  hx_report_t *report) { __builtin_trap(); }
typedef struct hx_process_group hx_group_t;
  hx_status_t hx_group_open(const hx_backend_t *backend, const char *name, uint32_t timeout_ms,
                                             hx_group_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_group_release(hx_group_t *group) { __builtin_trap(); }
 uint32_t hx_group_rank(const hx_group_t *group) { __builtin_trap(); }
 uint32_t hx_group_size(const hx_group_t *group) { __builtin_trap(); }
  hx_status_t hx_group_all_reduce_add(hx_group_t *group, const hx_value_t *value, hx_value_t **out,
                                                       hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_group_broadcast(hx_group_t *group, uint32_t root, const hx_value_t *value,
                                                  hx_value_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_group_all_gather(hx_group_t *group, const hx_value_t *value, hx_value_t **outs,
                                                   hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_group_agree(hx_group_t *group, const void *facts, size_t bytes, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_group_join(hx_group_t *group, hx_status_t status, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_group_load_keys(hx_group_t *group, const char *directory, const hx_params_t *params,
                                                  const hx_program_needs_t *needs, const hx_load_options_t *options,
                                                  hx_keys_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_backend_with_group(const hx_backend_t *backend, const char *name, hx_group_t *group,
                                                     hx_backend_t **out, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_group_volume {
  uint64_t sent;
  uint64_t received;
  uint64_t calls;
} hx_group_volume_t;
 void hx_group_volume(const hx_group_t *group, hx_group_volume_t *out) { __builtin_trap(); }
typedef struct hx_import_constant {
  const char *symbol;
  const double *values;
  size_t count;
} hx_import_constant_t;
typedef struct hx_import hx_import_t;
  hx_status_t hx_import_heir(hx_str_t text, const char *source, const char *entry, hx_import_t **out,
                                              hx_report_t *report) { __builtin_trap(); }
 void hx_import_release(hx_import_t *import) { __builtin_trap(); }
 const hx_program_t *hx_import_program(const hx_import_t *import) { __builtin_trap(); }
 size_t hx_import_constants(const hx_import_t *import, const hx_import_constant_t **out_constants) { __builtin_trap(); }
  hx_status_t hx_import_bind(const hx_import_t *import, hx_compilation_t *compilation,
                                              hx_report_t *report) { __builtin_trap(); }
typedef struct hx_op_description {
  const char *name;
  uint32_t signature;
  const char *tier;
  const char *effect;
  const char *operands;
  const char *results;
  const char *attributes;
  const char *doc;
} hx_op_description_t;
 size_t hx_ops_count(void) { __builtin_trap(); }
 const hx_op_description_t *hx_ops_get(size_t index) { __builtin_trap(); }
 uint32_t hx_ops_version(void) { __builtin_trap(); }
typedef struct hx_cost {
  const char *device;
  const char *digest;
  const char *operation;
  const char *shape;
  const char
      *candidate;
  double nanoseconds;
} hx_cost_t;
typedef struct hx_costs hx_costs_t;
 hx_costs_t *hx_costs_create(void) { __builtin_trap(); }
 void hx_costs_release(hx_costs_t *costs) { __builtin_trap(); }
 size_t hx_costs_count(const hx_costs_t *costs) { __builtin_trap(); }
 const hx_cost_t *hx_costs_get(const hx_costs_t *costs, size_t index) { __builtin_trap(); }
  hx_status_t hx_costs_load(hx_costs_t *costs, const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_costs_parse(hx_costs_t *costs, hx_str_t text, const char *source,
                                              hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_costs_save(const hx_costs_t *costs, const char *path, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_tune_options {
  double seconds;
  void (*measured)(void *argument, const hx_cost_t *cost);
  void *argument;
} hx_tune_options_t;
  hx_status_t hx_tune(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                       const hx_tune_options_t *options, hx_costs_t *costs, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_tune_digits(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                              const hx_tune_options_t *options, hx_costs_t *costs, uint32_t *out_digits,
                                              hx_report_t *report) { __builtin_trap(); }
typedef struct hx_bisect_options {
  const hx_keys_t *secret;
  double tolerance;
} hx_bisect_options_t;
typedef struct hx_bisection {
  _Bool found;
  size_t index;
  char entry[128];
  char output[64];
  double difference;
  size_t runs;
} hx_bisection_t;
  hx_status_t hx_bisect(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                         const char *pipeline, const hx_value_t *const *inputs,
                                         const hx_bisect_options_t *options, hx_bisection_t *out, hx_report_t *report) { __builtin_trap(); }
typedef enum hx_pass_role {
  HX_PASS_OPTIMISE,
  HX_PASS_MEND,
  HX_PASS_LOWER,
  HX_PASS_CHECK
} hx_pass_role_t;
typedef enum hx_pass_claim {
  HX_CLAIM_BITS,
  HX_CLAIM_ROUNDING
} hx_pass_claim_t;
typedef struct hx_pass_info {
  const char *name;
  const char *options;
  hx_pass_role_t role;
  hx_pass_claim_t claim;
  const char *doc;
} hx_pass_info_t;
 size_t hx_pass_list(const hx_pass_info_t **out_passes) { __builtin_trap(); }
 const char *hx_pass_role_name(hx_pass_role_t role) { __builtin_trap(); }
 const char *hx_pass_claim_name(hx_pass_claim_t claim) { __builtin_trap(); }
 const char *hx_pipeline_default(void) { __builtin_trap(); }
  hx_status_t hx_pipeline_check(const char *pipeline, size_t *out_count, hx_report_t *report) { __builtin_trap(); }
 hx_str_t hx_pipeline_entry(const char *pipeline, size_t index) { __builtin_trap(); }
typedef struct hx_decision {
  const char *pass;
  const char *operation;
  uint32_t line;
  uint32_t column;
  const char *chosen;
  const char *among;
  const char *why;
} hx_decision_t;
typedef struct hx_decisions hx_decisions_t;
 hx_decisions_t *hx_decisions_create(void) { __builtin_trap(); }
 void hx_decisions_release(hx_decisions_t *decisions) { __builtin_trap(); }
 size_t hx_decisions_count(const hx_decisions_t *decisions) { __builtin_trap(); }
 const hx_decision_t *hx_decisions_get(const hx_decisions_t *decisions, size_t index) { __builtin_trap(); }
typedef struct hx_transform_options {
  const char *skip;
  const hx_backend_t *target;
  hx_decisions_t *decisions;
  hx_costs_t *costs;
  void (*watch)(void *argument, const char *pass, _Bool is_over, _Bool changed, const hx_program_t *program);
  void *argument;
} hx_transform_options_t;
  hx_status_t hx_compilation_transform_with(hx_compilation_t *compilation, const char *pipeline,
                                                             const hx_transform_options_t *options,
                                                             hx_report_t *report) { __builtin_trap(); }
typedef struct hx_plan_value {
  const char *name;
  const char *operation;
  uint32_t line;
  uint32_t column;
  uint32_t depth;
  uint32_t components;
  uint32_t slots;
  const char *scale;
  double scale_log2;
  double sigma;
} hx_plan_value_t;
typedef struct hx_plan_device {
  const char *name;
  uint64_t peak_bytes;
  uint64_t unshared_bytes;
} hx_plan_device_t;
typedef struct hx_plan_info {
  uint32_t depth;
  uint32_t max_depth;
  const int64_t *steps;
  size_t step_count;
  _Bool needs_relin;
  _Bool needs_conj;
  uint64_t key_bytes;
  _Bool counts_exact;
  uint64_t key_switches;
  uint64_t mod_ups;
  uint64_t mod_downs;
  uint64_t transforms;
  uint64_t operations;
  uint64_t peak_bytes;
  uint64_t unshared_bytes;
  uint64_t material_bytes;
  uint64_t input_bytes;
  uint64_t output_bytes;
  uint64_t memory_bytes;
  double seconds;
  uint64_t measured;
} hx_plan_info_t;
typedef struct hx_plan hx_plan_t;
  hx_status_t hx_plan_create(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                              hx_costs_t *costs, hx_plan_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_plan_release(hx_plan_t *plan) { __builtin_trap(); }
 const hx_plan_info_t *hx_plan_info(const hx_plan_t *plan) { __builtin_trap(); }
 size_t hx_plan_values(const hx_plan_t *plan, const hx_plan_value_t **out_values) { __builtin_trap(); }
 size_t hx_plan_devices(const hx_plan_t *plan, const hx_plan_device_t **out_devices) { __builtin_trap(); }
 size_t hx_plan_outputs(const hx_plan_t *plan, const hx_plan_value_t **out_values) { __builtin_trap(); }
typedef struct hx_error_statistics {
  double worst;
  double mean;
  double median;
  size_t worst_index;
} hx_error_statistics_t;
typedef struct hx_error_report {
  size_t count;
  _Bool exact;
  hx_error_statistics_t real;
  hx_error_statistics_t imaginary;
  hx_error_statistics_t size;
  double l2;
} hx_error_report_t;
  hx_status_t hx_errors_measure(const double *have, size_t have_count, const double *want,
                                                 size_t want_count, _Bool complex_values, hx_error_report_t *out,
                                                 hx_report_t *report) { __builtin_trap(); }
typedef struct hx_precompiled_type {
  uint32_t kind;
  uint32_t known;
  uint32_t dtype;
  uint32_t basis;
  uint32_t domain;
  uint32_t repr;
  uint32_t components;
  uint32_t depth;
  uint32_t slots;
  uint32_t batch_rank;
  uint64_t batch_shape[4];
  const uint32_t *primes;
  uint32_t prime_count;
  uint64_t scale_m[4];
  int64_t scale_e;
  const int64_t *scale_terms;
  uint32_t scale_term_count;
  uint32_t key_kind;
  uint64_t element;
  uint64_t count;
  uint32_t is_complex;
  uint32_t bits;
  uint32_t signedness;
  const char *name;
} hx_precompiled_type_t;
typedef struct hx_precompiled_attr {
  const char *name;
  uint32_t kind;
  uint32_t boolean;
  int64_t integer;
  double number;
  const char *text;
  uint32_t type;
  uint32_t count;
  const struct hx_precompiled_attr *items;
  uint32_t input_count;
  uint32_t result_count;
  const uint32_t *types;
} hx_precompiled_attr_t;
struct hx_precompiled_op;
typedef struct hx_precompiled_block {
  uint32_t argument_count;
  uint32_t op_count;
  const uint32_t *arguments;
  const struct hx_precompiled_op *ops;
} hx_precompiled_block_t;
typedef struct hx_precompiled_op {
  const char *name;
  uint32_t line;
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t attr_count;
  uint32_t region_count;
  const uint32_t *operands;
  const uint32_t *results;
  const hx_precompiled_attr_t *attrs;
  const hx_precompiled_block_t *regions;
} hx_precompiled_op_t;
typedef struct hx_precompiled {
  const char *version;
  const char *source;
  const char *params_digest;
  const hx_precompiled_type_t *types;
  const uint32_t *value_types;
  const char *const *value_names;
  uint32_t type_count;
  uint32_t value_count;
  hx_precompiled_op_t module;
} hx_precompiled_t;
  hx_status_t hx_precompiled_link(const hx_precompiled_t *program, const hx_params_t *params,
                                                   const hx_backend_t *backend, const hx_keys_t *keys,
                                                   const hx_named_value_t *materials, size_t material_count,
                                                   hx_executable_t **out, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_queue_of_runs hx_queue_t;
typedef struct hx_point hx_event_t;
  hx_status_t hx_queue_create(hx_queue_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_queue_release(hx_queue_t *queue) { __builtin_trap(); }
  hx_status_t hx_run_async(hx_queue_t *queue, hx_executable_t *executable,
                                            const hx_value_t *const *inputs, hx_value_t **outputs,
                                            const hx_run_options_t *options, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_queue_record(hx_queue_t *queue, hx_event_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_queue_wait(hx_queue_t *queue, hx_event_t *event, hx_report_t *report) { __builtin_trap(); }
 _Bool hx_event_is_passed(hx_event_t *event) { __builtin_trap(); }
 void hx_event_wait(hx_event_t *event) { __builtin_trap(); }
 void hx_event_release(hx_event_t *event) { __builtin_trap(); }
  hx_status_t hx_queue_sync(hx_queue_t *queue, hx_report_t *report) { __builtin_trap(); }
 void hx_queue_cancel(hx_queue_t *queue) { __builtin_trap(); }
 void hx_queue_reset(hx_queue_t *queue) { __builtin_trap(); }
typedef struct hx_shard_spec {
  const char *kind;
  uint32_t rank;
  uint32_t size;
  const char *group;
  const char
      *pipeline;
} hx_shard_spec_t;
  hx_status_t hx_compilation_shard(hx_compilation_t *compilation, const hx_shard_spec_t *spec,
                                                    const hx_transform_options_t *options, hx_report_t *report) { __builtin_trap(); }
typedef enum hx_collective_role {
  HX_COLLECTIVE_ALL,
  HX_COLLECTIVE_SEND,
  HX_COLLECTIVE_RECEIVE,
  HX_COLLECTIVE_ENTER,
  HX_COLLECTIVE_NEXT,
  HX_COLLECTIVE_LEAVE
} hx_collective_role_t;
typedef struct hx_collective {
  hx_collective_role_t role;
  uint32_t peer;
  const char *operation;
  const char *facts;
  uint32_t line;
  uint32_t column;
  uint64_t times;
  _Bool is_exact;
  uint64_t payload;
  uint64_t sent;
  uint64_t received;
} hx_collective_t;
typedef struct hx_collectives hx_collectives_t;
  hx_status_t hx_collectives_create(const hx_program_t *program, const hx_params_t *params,
                                                     const char *group, uint32_t rank, uint32_t size,
                                                     hx_collectives_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_collectives_release(hx_collectives_t *collectives) { __builtin_trap(); }
 size_t hx_collectives_count(const hx_collectives_t *collectives) { __builtin_trap(); }
 const hx_collective_t *hx_collectives_get(const hx_collectives_t *collectives, size_t index) { __builtin_trap(); }
 const char *hx_collectives_text(const hx_collectives_t *collectives) { __builtin_trap(); }
  hx_status_t hx_collectives_compare(const char *const *texts, size_t count, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_group_compare_programs(hx_group_t *group, const hx_program_t *program,
                                                         const char *symbol, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_scaling {
  uint32_t size;
  uint32_t busiest;
  uint64_t collectives;
  uint64_t sent;
  uint64_t received;
  uint64_t total;
  uint64_t key_bytes;
  double work;
  double share;
} hx_scaling_t;
  hx_status_t hx_shard_predict(const hx_compilation_t *compilation, const hx_shard_spec_t *spec,
                                                uint32_t size, hx_scaling_t *out, hx_report_t *report) { __builtin_trap(); }
typedef struct hx_trace_event {
  uint64_t run;
  uint64_t call;
  const char *operation;
  const char *implementation;
  const char *value;
  uint32_t line;
  uint64_t start_ns;
  uint64_t duration_ns;
} hx_trace_event_t;
  hx_status_t hx_trace_create(hx_trace_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_trace_release(hx_trace_t *trace) { __builtin_trap(); }
 size_t hx_trace_events(const hx_trace_t *trace, const hx_trace_event_t **out_events) { __builtin_trap(); }
  hx_status_t hx_trace_save(const hx_trace_t *trace, const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_record_create(hx_record_t **out, hx_report_t *report) { __builtin_trap(); }
 void hx_record_release(hx_record_t *record) { __builtin_trap(); }
 size_t hx_record_count(const hx_record_t *record) { __builtin_trap(); }
  hx_status_t hx_record_save(const hx_record_t *record, const char *path, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_record_load(const char *path, hx_record_t **out, hx_report_t *report) { __builtin_trap(); }
  hx_status_t hx_record_parse(hx_str_t text, const char *source, hx_record_t **out,
                                               hx_report_t *report) { __builtin_trap(); }
