/* SPDX-License-Identifier: Apache-2.0 */
/* The Heliox plugin ABI: all that crosses between the host and a backend plugin.
 *
 * C99 and C++. A plugin exports one symbol, heliox_plugin_query, and carries the ELF note that
 * heliox/plugin_note.h emits. Everything else stays hidden.
 *
 * Rules for every struct
 *   - struct_size comes first: the offset of the end of the last field that the writer knows
 *     (HX_STRUCT_SIZE), not sizeof. A longer prefix is accepted, a shorter one as long as it holds
 *     the mandatory fields.
 *   - fixed-width integers only; fields are only ever appended; reserved words are zero and checked.
 *   - strings are UTF-8, NUL-terminated and borrowed for the call, unless a comment says more.
 *
 * Rules for every function
 *   - it returns HX_OK or another HX_ code and fills *error when it fails; outputs are untouched then.
 *   - nobody frees what the other side allocated.
 *   - no stdout, no signal handlers, no exit or abort, no environment variables of Heliox.
 *
 * Thread rules, written beside each function
 *   [I] during query and initialisation only, one thread
 *   [A] any thread, at any time
 *   [Q] one thread a queue at a time
 */
#ifndef HELIOX_PLUGIN_H
#define HELIOX_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ constants */

/* Of this header; other majors are refused. */
#define HX_ABI_MAJOR 1u
#define HX_ABI_MINOR 2u /* highest minor that this header describes */
/* The version of this header as text. */
#define HX_ABI_TEXT "1.2"

/* Result codes of every function. */
enum {
  HX_OK = 0,
  HX_INVALID = 1,       /* an argument or region breaks the contract */
  HX_UNSUPPORTED = 2,   /* legal, but this plugin does not do it */
  HX_OUT_OF_MEMORY = 3, /* host or device memory */
  HX_UNAVAILABLE = 4,   /* driver or device missing, or too old */
  HX_BUSY = 5,          /* second caller on a one-caller object */
  HX_CANCELLED = 6,     /* the host asked to stop */
  HX_DEVICE_LOST = 7,   /* sticky fault: the device cannot be used any more */
  HX_ARGS_SIZE = 8,     /* a struct is shorter than its mandatory fields */
  HX_INTERNAL = 9       /* a fault of the plugin */
};

enum { HX_U64 = 1, HX_U32 = 2, HX_I64 = 3, HX_F64 = 4, HX_U8 = 5 }; /* dtypes */
enum { HX_COEFFICIENT = 1, HX_NTT = 2 };                            /* domains */
enum { HX_BASIS_Q = 1, HX_BASIS_P = 2, HX_BASIS_QP = 3 };
enum { HX_STANDARD = 1, HX_LAZY = 2, HX_MONTGOMERY = 3 }; /* representations */
enum { HX_SECRET = 1, HX_IMMUTABLE = 2 };                 /* flags of a value */
enum { HX_ATTR_I64 = 1, HX_ATTR_U64 = 2, HX_ATTR_F64 = 3, HX_ATTR_TEXT = 4 };
enum { HX_SPACE_DEVICE = 1, HX_SPACE_PINNED = 2, HX_SPACE_HOST = 3 };
enum { HX_LOG_ERROR = 1, HX_LOG_WARNING = 2, HX_LOG_INFO = 3, HX_LOG_DEBUG = 4 };
enum { HX_BIT_EXACT = 1, HX_TOLERANCE = 2 }; /* what a codec promises; since 1.1 */

#define HX_NONE UINT32_MAX /* no index */

/* Offset of the end of a field: the value of struct_size for a writer whose last field it is. */
#define HX_END_OF(type, field) ((uint32_t)(offsetof(type, field) + sizeof(((type *)0)->field)))

/* ------------------------------------------------------------------ opaque objects, all made by the plugin */

typedef struct hx_device hx_device;     /* one opened device */
typedef struct hx_buffer hx_buffer;     /* memory of a device */
typedef struct hx_queue hx_queue;       /* work of a device, in order */
typedef struct hx_event hx_event;       /* a point on a queue */
typedef struct hx_tables hx_tables;     /* twiddles and constants of one ring on one device */
typedef struct hx_packed hx_packed;     /* a key or constant in the plugin's own layout */
typedef struct hx_prepared hx_prepared; /* a region, ready to run */
typedef struct hx_callable hx_callable; /* made by the host: a prepared region of another plugin */
typedef struct hx_graph hx_graph;       /* recorded work of a queue; since 1.1 */
typedef struct hx_group hx_group;       /* processes that work together; since 1.1 */

/* ------------------------------------------------------------------ errors and memory */

/* Owned by the caller. The callee writes code, op and message (NUL-terminated, cut if too long). */
typedef struct {
  uint32_t struct_size;
  int32_t code; /* what the function returns */
  uint32_t op;  /* index of the operation in the region, or HX_NONE */
  uint32_t reserved;
  char message[240]; /* UTF-8, NUL-terminated */
} hx_error;

/* A place in memory. offset is in bytes and respects the alignment of the device. */
typedef struct {
  hx_buffer *buffer; /* what it lies in */
  uint64_t offset;   /* bytes from the buffer's start */
} hx_span;

/* ------------------------------------------------------------------ what a region says */

/* The ring and the prime chain. Prime ids: Q's primes 0..q_count-1, then P's. */
typedef struct {
  uint32_t struct_size;
  uint32_t log_n;       /* N = 2^log_n */
  uint32_t word;        /* bits of a residue word, 64 or 32 */
  uint32_t q_count;     /* primes of Q: the first ones */
  uint32_t p_count;     /* special primes P, behind them */
  uint32_t digit_run;   /* primes a key-switching digit: digit j owns ids j*run .. (j+1)*run-1 of Q */
  uint32_t group_count; /* base group and depth groups */
  uint32_t reserved;
  const uint64_t *primes;      /* [q_count + p_count] */
  const uint64_t *psi;         /* [q_count + p_count], smallest primitive 2N-th root of unity */
  const uint32_t *group_sizes; /* [group_count], base first */
  uint8_t digest[32];          /* of the parameter set; equal digests are equal rings */
} hx_ring;

/* Shape, place and state of one tensor: [*batch][digit][component][limb][2^log_n]. Strides are in
 * elements; coefficients are contiguous. A stride of 0 repeats (an operand without a batch, or one
 * component used for all): the host resolves broadcasts and views before a plugin sees them. */
typedef struct {
  uint32_t struct_size;
  uint32_t dtype;      /* HX_U64, HX_U32, HX_I64, HX_U8, ... */
  uint32_t log_n;      /* 2^log_n coefficients a limb */
  uint32_t batch_rank; /* axes of the batch */
  uint32_t digits;     /* 0: no digit axis; only switching keys have one */
  uint32_t components; /* polynomials */
  uint32_t limbs;      /* rows, one a prime */
  uint32_t domain;     /* 0 where dtype is no residue */
  uint32_t basis;      /* HX_BASIS_ */
  uint32_t repr;       /* representation of residues; 0 where dtype is no residue */
  uint32_t flags;      /* HX_SECRET, HX_IMMUTABLE */
  uint32_t reserved;
  const uint64_t *batch_shape;   /* [batch_rank] */
  const uint64_t *batch_strides; /* [batch_rank] */
  uint64_t digit_stride;         /* in elements, as all strides */
  uint64_t component_stride;     /* from one component to the next */
  uint64_t limb_stride;          /* from one row to the next */
  const uint32_t *prime_ids;     /* [limbs], ascending; NULL where dtype is no residue */
  const uint32_t *rows;          /* [limbs]: limb l lies at rows[l] * limb_stride; NULL: at l * limb_stride */
} hx_tensor_desc;

/* An attribute of an operation. */
typedef struct {
  uint32_t struct_size;
  uint32_t kind;  /* HX_ATTR_ */
  uint32_t count; /* elements; bytes of text without its NUL */
  uint32_t reserved;
  const char *name; /* as the catalogue has it */
  const void *data; /* int64_t, uint64_t, double or char [count] */
} hx_attr;

/* One operation. Ids index the region's tables. */
typedef struct {
  uint32_t struct_size;
  uint32_t signature;        /* version of the operation in the catalogue */
  uint32_t attr_count;       /* of attrs */
  uint32_t operand_count;    /* of operands */
  uint32_t result_count;     /* of results */
  uint32_t resource_count;   /* of resources */
  const char *name;          /* of the catalogue: "rns.add" */
  const hx_attr *attrs;      /* [attr_count] */
  const uint32_t *operands;  /* value ids */
  const uint32_t *results;   /* value ids */
  const uint32_t *resources; /* resource ids */
} hx_op;

/* Something that operations use beside values. */
typedef struct {
  uint32_t struct_size;
  uint32_t source;  /* value it is packed from, or HX_NONE for a live handle */
  const char *kind; /* packed-key, packed-plain, process-group, x-... */
} hx_resource;

/* Operations in topological order over values. Flat and borrowed: a plugin copies what it keeps. */
typedef struct {
  uint32_t struct_size;
  uint32_t value_count;         /* of values */
  uint32_t op_count;            /* of ops */
  uint32_t resource_count;      /* of resources */
  uint32_t input_count;         /* of inputs */
  uint32_t output_count;        /* of outputs */
  const hx_ring *ring;          /* that all residues belong to */
  hx_tables *tables;            /* of this device and ring; NULL where device_ops has no tables_create */
  const hx_tensor_desc *values; /* [value_count] */
  const hx_op *ops;             /* [op_count] */
  const hx_resource *resources; /* [resource_count] */
  const uint32_t *inputs;       /* value ids */
  const uint32_t *outputs;      /* value ids */
  const char *variant;          /* pins one variant of the implementation; NULL: the plugin chooses */
  /* since 1.1: combine regions of collective operations, prepared by the plugin that computes. They live as long as the
   * prepared region and are run by hx_host.run_region. */
  uint32_t callable_count;
  uint32_t reserved;
  hx_callable *const *callables; /* [callable_count] */
  const uint32_t *op_callables;  /* [op_count]: index of the operation's callable, or HX_NONE */
} hx_region;

/* ------------------------------------------------------------------ implementations */

/* Filled by prepare. may_alias is the host's array, all -1 on entry. */
typedef struct {
  uint32_t struct_size;
  uint32_t alias_count;    /* entries of may_alias: the region's outputs */
  uint64_t scratch_host;   /* bytes of host memory that execute wants */
  uint64_t scratch_device; /* bytes that execute wants */
  int32_t *may_alias;      /* per output: index of the input whose memory it may share, or -1 */
  uint64_t cost_ns;        /* 0: unknown */
} hx_plan;

/* One run of a prepared region. All of it lives until the queue has passed the call. Outputs overlap
 * inputs only exactly, and only where may_alias allowed it. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  hx_queue *queue;        /* that the work is enqueued on */
  hx_span scratch_host;   /* as the plan asked for */
  hx_span scratch_device; /* as the plan asked for */
  void *const *resources; /* [resource_count]: hx_packed *, or the live handle */
  const hx_span *inputs;  /* [input_count] */
  const hx_span *outputs; /* [output_count] */
} hx_call;

/* One implementation of an operation. */
typedef struct {
  uint32_t struct_size;
  uint32_t signature; /* version of the operation in the catalogue */
  const char *name;   /* of the implementation; with op, unique in the plugin */
  const char *op;     /* operation, or "fusion.region": takes fused regions */
  /* [A] HX_UNSUPPORTED for a fused region un-fuses it at link time. */
  int32_t (*prepare)(hx_device *, const hx_region *, hx_plan *, hx_prepared **, hx_error *);
  /* [Q] allocates nothing, waits for nothing. */
  int32_t (*execute)(hx_prepared *, const hx_call *, hx_error *);
  void (*destroy)(hx_prepared *); /* [A] */
} hx_impl;

/* ------------------------------------------------------------------ roles */

/* What a device is. */
typedef struct {
  uint32_t struct_size;
  uint32_t int64_ok;      /* not 0: it has 64-bit integers */
  uint32_t compute_units; /* processors, cores, multiprocessors */
  uint32_t reserved;
  uint64_t memory_bytes; /* of its own, or of the host's where it works there */
  uint64_t alignment;    /* of every span offset, a power of two; also of sub-allocations */
  char name[128];        /* for people */
  char uuid[64];         /* the same in every process; may be empty */
  char driver[64];       /* its name and version */
  /* since 1.2: links to the plugin's other devices, a bit for each device below 64; its own bit is 0 */
  uint64_t peers;        /* copies to and from that device go straight, not by way of the host */
  uint64_t peers_linked; /* of these, over a link of their own and not the system's bus */
} hx_device_info;

/* Devices, and what is made for one. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t (*count)(hx_error *);                                 /* [I] 0 with an error: none, and why */
  int32_t (*info)(uint32_t index, hx_device_info *, hx_error *); /* [I] */
  int32_t (*open)(uint32_t index, hx_device **, hx_error *);     /* [A] */
  void (*close)(hx_device *);                                    /* [A] after all that it made */
  /* [A] once a (device, ring digest); NULL: the plugin needs none. */
  int32_t (*tables_create)(hx_device *, const hx_ring *, hx_tables **, hx_error *);
  void (*tables_destroy)(hx_tables *); /* [A] */
} hx_device_ops;

/* Buffers. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*alloc)(hx_device *, uint32_t space, uint64_t bytes, hx_buffer **, hx_error *); /* [A] */
  /* [A] a borrowed buffer over the caller's memory; NULL or HX_UNSUPPORTED: the host copies. */
  int32_t (*import_host)(hx_device *, void *, uint64_t bytes, hx_buffer **, hx_error *);
  void *(*address)(hx_buffer *); /* [A] host address, or NULL */
  void (*free)(hx_buffer *);     /* [A] */
} hx_memory_ops;

/* Queues: work in order, enqueued and waited for. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*create)(hx_device *, hx_queue **, hx_error *); /* [A] */
  void (*destroy)(hx_queue *);                             /* [A] waits for its work */
  /* [Q] from and to may be buffers of this device, of any space. */
  int32_t (*copy)(hx_queue *, hx_span to, hx_span from, uint64_t bytes, hx_error *);
  int32_t (*fill)(hx_queue *, hx_span, uint8_t value, uint64_t bytes, hx_error *); /* [Q] */
  int32_t (*record)(hx_queue *, hx_event **, hx_error *);                          /* [Q] */
  int32_t (*wait)(hx_queue *, hx_event *, hx_error *);                             /* [Q] on the device */
  void (*event_destroy)(hx_event *);                                               /* [A] */
  /* [Q] waits; the first late failure: error->op counts the executes of this queue since its last sync, from 0, up to
   * the one that failed (HX_NONE: unknown). Then poisoned until reset. */
  int32_t (*sync)(hx_queue *, hx_error *);
  int32_t (*reset)(hx_queue *, hx_error *); /* [Q] */
} hx_queue_ops;

/* Derived forms of materials. The host caches them by (material, generation, device, plugin). */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*pack)(hx_device *, hx_tables *, const char *kind, const hx_tensor_desc *, hx_span, hx_queue *, hx_packed **,
                  hx_error *);  /* [A] */
  void (*release)(hx_packed *); /* [A] */
} hx_materializer_ops;

/* ------------------------------------------------------------------ roles since 1.1, all optional */

/* Work that is recorded once and launched again. Resources and prepared regions of what was recorded live until the
 * graph is destroyed; memory does too, but for ranges that `update` replaces before the next launch. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  /* [Q] Until capture_end, execute, copy and fill on this queue record and do nothing else. HX_UNSUPPORTED: not here.
   */
  int32_t (*capture_begin)(hx_queue *, hx_error *);
  /* [Q] Ends recording. On failure there is no graph, and the queue is as it was before capture_begin. */
  int32_t (*capture_end)(hx_queue *, hx_graph **, hx_error *);
  /* [Q] Enqueues all that was recorded, in order. Late failures count the recorded executes as if made one by one. */
  int32_t (*launch)(hx_graph *, hx_queue *, hx_error *);
  /* [Q] From the next launch on, what was recorded for the first bytes[i] bytes at from[i] is for those at to[i], for
   * all i at once. Ranges `from` are apart. A graph is launched or updated by one thread at a time. */
  int32_t (*update)(hx_graph *, uint32_t count, const hx_span *from, const hx_span *to, const uint64_t *bytes,
                    hx_error *);
  void (*destroy)(hx_graph *); /* [A] after its launches are over */
} hx_graph_ops;

/* How numbers become a plaintext. The scale is mantissa * 2^exponent times the primes to these powers. */
typedef struct {
  uint32_t struct_size;
  uint32_t complex_values;         /* 0: one double a slot; 1: re, im */
  uint32_t slots;                  /* a power of two, at most N/2; coefficients lie at multiples of N / (2 slots) */
  int32_t scale_exponent;          /* of two */
  uint64_t scale_mantissa;         /* of the scale */
  const int32_t *prime_powers;     /* [q_count + p_count] */
  const hx_ring *ring;             /* of the plaintext */
  hx_tables *tables;               /* as in hx_region */
  const hx_tensor_desc *plaintext; /* one component, ntt domain, standard, on primes of Q; batch dense on both sides */
} hx_encoding;

/* Between slot values and plaintexts, on the device. Values are f64, [*batch][slots] or [*batch][slots][2]. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t exactness; /* HX_BIT_EXACT: coefficients as the host's encoder rounds them */
  uint32_t
      tolerance_log2; /* HX_TOLERANCE: coefficients differ by at most 2^this; decoded slots by 2^this over the scale */
  int32_t (*encode)(hx_queue *, const hx_encoding *, hx_span values, hx_span plaintext, hx_error *); /* [Q] */
  int32_t (*decode)(hx_queue *, const hx_encoding *, hx_span plaintext, hx_span values, hx_error *); /* [Q] */
} hx_codec_ops;

/* One reduction. For each rank r from 0 up: rank r's payload goes to `incoming` of every rank, then
 * hx_host.run_region(combine, call) runs, which adds it to what the host keeps, zero at first. When that returns,
 * `incoming` may be overwritten. So the sum does not depend on who is when ready. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  hx_callable *combine; /* region that adds incoming to the sum */
  const hx_call *call;  /* of that region */
  const void *mine;     /* host memory, `bytes`; not `incoming` */
  void *incoming;       /* host memory, `bytes` */
  uint64_t bytes;       /* of a payload */
} hx_reduction;

/* Groups of processes. Payloads are host memory; whoever calls has brought them there. Every call is collective: all
 * ranks of the group make the same calls in the same order. timeout_ms bounds the waiting for other ranks;
 * HX_UNAVAILABLE names the ranks that are missing. All [Q], the group standing for the queue. */
typedef struct {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*open)(const char *name, uint32_t timeout_ms, hx_group **, hx_error *); /* "world" */
  /* Leaves the group. */
  void (*close)(hx_group *);
  /* Number of this process, and how many there are. */
  int32_t (*rank)(hx_group *, uint32_t *out_rank, uint32_t *out_size, hx_error *);
  /* Before every payload: HX_INVALID on every rank where not all ranks bring equal bytes, naming the ranks that differ
   * from rank 0. */
  int32_t (*agree)(hx_group *, const void *facts, uint64_t bytes, hx_error *);
  /* Root's payload to all. */
  int32_t (*broadcast)(hx_group *, uint32_t root, void *payload, uint64_t bytes, hx_error *);
  /* Rank r brings bytes[r] bytes; `all` takes them in the order of the ranks. */
  int32_t (*all_gather)(hx_group *, const void *mine, void *all, const uint64_t *bytes, hx_error *);
  /* In the order of the ranks. */
  int32_t (*all_reduce)(hx_group *, const hx_reduction *, hx_error *);
  /* To one rank, which receives. */
  int32_t (*send)(hx_group *, uint32_t to, const void *payload, uint64_t bytes, hx_error *);
  /* From one rank, which sends. */
  int32_t (*receive)(hx_group *, uint32_t from, void *payload, uint64_t bytes, hx_error *);
  /* since 1.2. [I] Whether groups can be opened on this machine: HX_UNAVAILABLE says what is missing. NULL: they can.
   */
  int32_t (*probe)(hx_error *);
} hx_collective_ops;

/* ------------------------------------------------------------------ host and plugin */

/* Valid until shutdown returns. All [A]. */
typedef struct hx_host {
  uint32_t struct_size;
  uint32_t abi_major; /* of the host */
  uint32_t minor_min; /* least that it speaks */
  uint32_t minor_max; /* highest that it speaks */
  void *self;         /* first argument of every function */
  /* A line; levels HX_LOG_. */
  void (*log)(void *self, int32_t level, const char *area, const char *text);
  const char *(*option)(void *self, const char *name); /* "cpu-mask", ...; NULL where unset */
  uint32_t (*threads)(void *self);                     /* this plugin's share of the thread budget */
  /* Body(argument, i) for every i below count, on this plugin's share of threads. */
  int32_t (*parallel_for)(void *self, uint64_t count, void (*body)(void *, uint64_t), void *argument);
  int32_t (*cancelled)(void *self); /* not 0: stop as soon as may be */
  /* Runs a callable on the queue of the call, which is one of the plugin that computes. Scratch is the host's. */
  int32_t (*run_region)(void *self, hx_callable *, const hx_call *, hx_error *);
  /* since 1.1 */
  void *(*scratch_take)(void *self, uint64_t bytes);           /* host memory, aligned to 64; NULL: none left */
  void (*scratch_give)(void *self, void *memory);              /* back, wiped. What is not given back is at shutdown. */
  void (*progress)(void *self, uint64_t done, uint64_t total); /* of the call that this thread is in */
  const char *(*code_text)(void *self, int32_t code);          /* a few words for a result code; never NULL */
} hx_host;

/* Filled by heliox_plugin_query. Mandatory up to impls; a NULL role is absent. */
typedef struct {
  uint32_t struct_size;    /* in: the room that the host has; out: what was filled */
  uint32_t abi_major;      /* of the plugin */
  uint32_t minor_min;      /* least that it speaks */
  uint32_t minor_max;      /* highest that it speaks */
  const char *id;          /* as in the manifest */
  const char *version;     /* as in the manifest */
  uint8_t layout_hash[32]; /* of the negotiated minor */
  uint32_t impl_count;     /* of impls */
  uint32_t reserved;
  const hx_impl *const *impls;             /* [impl_count] */
  const hx_device_ops *device;             /* needed for execution */
  const hx_memory_ops *memory;             /* needed for execution */
  const hx_queue_ops *queue;               /* needed for execution */
  const hx_materializer_ops *materializer; /* packs keys and plaintexts; NULL: none */
  void (*shutdown)(void);                  /* [I] after every object is gone */
  /* since 1.1 */
  const hx_graph_ops *graph;
  const hx_codec_ops *codec;            /* encodes and decodes; NULL: none */
  const hx_collective_ops *collectives; /* groups of processes; NULL: none */
} hx_plugin;

/* [I] The one exported symbol. */
__attribute__((visibility("default"))) int32_t heliox_plugin_query(const hx_host *host, hx_plugin *out);

#ifdef __cplusplus
}
#endif
#endif
