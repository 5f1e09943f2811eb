// SPDX-License-Identifier: Apache-2.0
// Sums of plaintext products. Sums whose terms are alike (the same values, or the same steps of one value) become the
// groups of one operation.
#include <stdlib.h>

#include "core/ir/table.h"
#include "core/passes/sums.h"

// One sum as a group: its terms in the order of the operation.
typedef struct hx_group {
  hx_sum_t *sum;
  hx_sum_leaf_t **terms;
  size_t count;
} hx_group_t;

// Groups of one operation.
typedef struct hx_cluster {
  hx_group_t *groups;
  size_t count, capacity;
} hx_cluster_t;

static void free_groups(hx_group_t *groups, size_t count) {
  for (size_t i = 0; i < count; ++i) hx_free(groups[i].terms);
  hx_free(groups);
}

static int by_source_and_step(const void *left, const void *right) {
  const hx_sum_leaf_t *a = *(hx_sum_leaf_t *const *)left, *b = *(hx_sum_leaf_t *const *)right;
  if (a->source->id != b->source->id) return a->source->id < b->source->id ? -1 : 1;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  return (a > b) - (a < b);  // as they stand in the sum
}

static bool is_term(const hx_sum_leaf_t *leaf, bool rotated) {
  if (leaf->product == NULL || leaf->is_taken) return false;
  return rotated ? leaf->rotation == NULL || leaf->source->type->components == 2 : true;
}

// The source that most rotated terms of a sum have; NULL where fewer than two terms have one.
static hx_ir_value_t *common_source(const hx_sum_t *sum) {
  hx_pointers_t counts;
  hx_pointers_init(&counts);
  hx_ir_value_t *best = NULL;
  uint32_t most = 0;
  for (size_t i = 0; i < sum->leaf_count; ++i) {
    const hx_sum_leaf_t *leaf = &sum->leaves[i];
    if (!is_term(leaf, true) || leaf->rotation == NULL) continue;
    const uint32_t known = hx_pointers_get(&counts, leaf->source);
    const uint32_t count = known == HX_NONE ? 1 : known + 1;
    if (hx_pointers_set(&counts, leaf->source, count) != HX_STATUS_OK) break;
    if (count > most) {
      most = count;
      best = leaf->source;
    }
  }
  hx_pointers_deinit(&counts);
  return most >= 2 ? best : NULL;
}

// Terms of a sum in canonical order. source: of rotated terms; NULL: products of any ciphertexts, as they are.
static hx_status_t gather_terms(hx_sum_t *sum, const hx_ir_value_t *source, hx_group_t *out) {
  *out = (hx_group_t){.sum = sum, .terms = hx_zalloc(sum->leaf_count + 1, sizeof(hx_sum_leaf_t *))};
  if (out->terms == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < sum->leaf_count; ++i) {
    hx_sum_leaf_t *leaf = &sum->leaves[i];
    if (!is_term(leaf, source != NULL)) continue;
    if (source != NULL && leaf->source != source) continue;
    out->terms[out->count++] = leaf;
  }
  if (source != NULL) {
    qsort(out->terms, out->count, sizeof *out->terms, by_source_and_step);
  }
  return HX_STATUS_OK;
}

static bool are_alike(const hx_group_t *a, const hx_group_t *b, bool rotated) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; ++i) {
    const hx_sum_leaf_t *left = a->terms[i], *right = b->terms[i];
    if (rotated ? left->source != right->source || left->step != right->step
                : left->product->operands[0] != right->product->operands[0]) {
      return false;
    }
    if ((left->key == NULL) != (right->key == NULL)) return false;
  }
  return true;
}

// ------------------------------------------------------------------ rotated terms

// Distinct rotations of a group that nobody but the cluster reads: those whose ModDown is saved.
static size_t count_saved(const hx_rewriter_t *rewriter, const hx_cluster_t *cluster) {
  const hx_group_t *group = &cluster->groups[0];
  size_t saved = 0;
  for (size_t t = 0; t < group->count; ++t) {
    if (group->terms[t]->rotation == NULL) continue;
    if (t > 0 && group->terms[t]->step == group->terms[t - 1]->step) continue;
    uint32_t readers = 0;
    const hx_ir_value_t *rotated = group->terms[t]->product->operands[0];
    for (size_t g = 0; g < cluster->count; ++g) {
      for (size_t k = 0; k < cluster->groups[g].count; ++k)
        readers += cluster->groups[g].terms[k]->product->operands[0] == rotated ? 1 : 0;
    }
    if (hx_rewriter_uses(rewriter, rotated) == readers) ++saved;
  }
  return saved;
}

static bool has_all_or_no_keys(const hx_group_t *group) {
  size_t with = 0, rotations = 0;
  for (size_t t = 0; t < group->count; ++t) {
    rotations += group->terms[t]->rotation != NULL ? 1 : 0;
    with += group->terms[t]->key != NULL ? 1 : 0;
  }
  return with == 0 || with == rotations;
}

// The plaintext on Q and P, made in front of `before`; a preparation for products is made anew from what it prepares.
// Plaintexts that are given twice are prepared twice: cse merges them.
static hx_ir_value_t *prepare_weight(hx_rewriter_t *rewriter, hx_ir_value_t *weight, hx_ir_op_t *before) {
  hx_ir_op_t *prepared = hx_value_op(weight, HX_OP_CKKS_PREPARE_PLAIN);
  if (prepared != NULL && hx_attrs_find(prepared->attrs, "heliox.implementation") == NULL)
    weight = hx_rewriter_current(rewriter, prepared->operands[0]);
  const hx_named_attr_t item = {.name = hx_str("for"),
                                .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("weighted")}};
  const hx_ir_op_t *op = hx_rewriter_build(rewriter, before, before, HX_OP_CKKS_PREPARE_PLAIN, &weight, 1, &item, 1, 1);
  return op == NULL ? NULL : op->results[0];
}

static bool are_weights_available(hx_rewriter_t *rewriter, const hx_group_t *group, hx_ir_op_t *before) {
  for (size_t t = 0; t < group->count; ++t) {
    if (!hx_rewriter_make_available(rewriter, group->terms[t]->weight, before)) return false;
    if (group->terms[t]->key != NULL && !hx_rewriter_make_available(rewriter, group->terms[t]->key, before))
      return false;
  }
  return true;
}

static void build_rotated(hx_rewriter_t *rewriter, hx_cluster_t *cluster) {
  hx_group_t *first = &cluster->groups[0];
  hx_ir_op_t *before = first->sum->root;
  const size_t terms = first->count, groups = cluster->count;
  hx_ir_value_t **operands = hx_zalloc(1 + terms * groups + terms, sizeof(hx_ir_value_t *));
  int64_t *steps = hx_zalloc(terms + 1, sizeof *steps);
  if (operands == NULL || steps == NULL) rewriter->status = HX_STATUS_OUT_OF_MEMORY;
  size_t count = 0;
  hx_ir_op_t *op = NULL;
  if (rewriter->status == HX_STATUS_OK) {
    operands[count++] = first->terms[0]->source;
    for (size_t g = 0; g < groups; ++g) {
      for (size_t t = 0; t < terms; ++t)
        operands[count++] = prepare_weight(rewriter, cluster->groups[g].terms[t]->weight, before);
    }
    for (size_t t = 0; t < terms; ++t) {
      const hx_sum_leaf_t *term = first->terms[t];
      steps[t] = term->step;
      if (term->key != NULL && (t == 0 || first->terms[t - 1]->step != term->step)) operands[count++] = term->key;
    }
    const hx_named_attr_t items[] = {
        {.name = hx_str("steps"), .value = hx_rewriter_list(rewriter, steps, terms)},
        {.name = hx_str("groups"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)groups}}};
    op = hx_rewriter_build(rewriter, before, before, HX_OP_CKKS_ROTATE_WEIGHTED_SUM, operands, count, items, 2, groups);
  }
  for (size_t g = 0; g < groups && op != NULL; ++g) {
    for (size_t t = 0; t < terms; ++t) cluster->groups[g].terms[t]->is_taken = true;
    hx_sum_finish(rewriter, cluster->groups[g].sum, op->results[g]);
  }
  hx_free(operands);
  hx_free(steps);
}

static void merge_rotated(hx_rewriter_t *rewriter, hx_cluster_t *cluster) {
  const hx_group_t *first = &cluster->groups[0];
  const hx_ir_op_t *root = first->sum->root;
  static const char among[] = "separate rotations, rotate_weighted_sum";
  const size_t saved = count_saved(rewriter, cluster);
  if (!has_all_or_no_keys(first)) {
    hx_decide(rewriter->env, root, "separate rotations", among, "some of the rotations have keys and some have none");
  } else if (saved <= cluster->count) {
    hx_decide(rewriter->env, root, "separate rotations", among,
              "%zu groups would take %zu ModDown, and only %zu rotations would go", cluster->count, cluster->count,
              saved);
  } else {
    hx_decide(rewriter->env, root, "rotate_weighted_sum", among,
              "%zu terms in %zu groups: %zu ModDown instead of %zu; the plaintexts are prepared on Q and P",
              first->count, cluster->count, cluster->count, saved);
    build_rotated(rewriter, cluster);
  }
}

// ------------------------------------------------------------------ products without rotations

static void merge_products(hx_rewriter_t *rewriter, hx_cluster_t *cluster) {
  hx_group_t *first = &cluster->groups[0];
  hx_ir_op_t *before = first->sum->root;
  const size_t terms = first->count, groups = cluster->count;
  hx_ir_value_t **operands = hx_zalloc(terms * (groups + 1) + 1, sizeof(hx_ir_value_t *));
  if (operands == NULL) {
    rewriter->status = HX_STATUS_OUT_OF_MEMORY;
    return;
  }
  for (size_t t = 0; t < terms; ++t) operands[t] = first->terms[t]->product->operands[0];
  for (size_t g = 0; g < groups; ++g) {
    for (size_t t = 0; t < terms; ++t) operands[(g + 1) * terms + t] = cluster->groups[g].terms[t]->weight;
  }
  const hx_named_attr_t item = {.name = hx_str("groups"),
                                .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)groups}};
  const hx_ir_op_t *op = hx_rewriter_build(rewriter, before, before, HX_OP_CKKS_WEIGHTED_SUM, operands,
                                           terms * (groups + 1), &item, 1, groups);
  hx_decide(rewriter->env, before, "weighted_sum", "products and additions, weighted_sum",
            "%zu products in %zu groups are summed in one operation; equal bits", terms, groups);
  for (size_t g = 0; g < groups && op != NULL; ++g) {
    for (size_t t = 0; t < terms; ++t) cluster->groups[g].terms[t]->is_taken = true;
    hx_sum_finish(rewriter, cluster->groups[g].sum, op->results[g]);
  }
  hx_free(operands);
}

// ------------------------------------------------------------------ clusters

// Whether the products of the sum may be one operation: equal components, depth, and domain are inference's to check;
// batches differ where one has none, so those with one batch are asked for.
static bool have_one_batch(const hx_group_t *group) {
  const hx_type_t *first = group->terms[0]->value->type;
  for (size_t t = 1; t < group->count; ++t) {
    if (!hx_type_equal(group->terms[t]->value->type, first)) return false;
  }
  return hx_type_is_complete(first);
}

static hx_status_t gather_groups(hx_sums_t *sums, bool rotated, hx_group_t *groups, size_t *out_count) {
  *out_count = 0;
  for (size_t i = 0; i < sums->count; ++i) {
    hx_sum_t *sum = &sums->items[i];
    const hx_ir_value_t *source = rotated ? common_source(sum) : NULL;
    if (rotated && source == NULL) continue;
    hx_group_t *group = &groups[*out_count];
    HX_TRY(gather_terms(sum, source, group));
    *out_count += 1;
    if (group->count < 2 || !have_one_batch(group)) {
      hx_free(group->terms);
      *out_count -= 1;
    }
  }
  return HX_STATUS_OK;
}

static void merge_sums(hx_rewriter_t *rewriter, hx_sums_t *sums, bool rotated) {
  hx_group_t *groups = hx_zalloc(sums->count + 1, sizeof *groups);
  bool *is_done = hx_zalloc(sums->count + 1, sizeof *is_done);
  hx_cluster_t cluster = {.groups = hx_zalloc(sums->count + 1, sizeof *groups)};
  size_t count = 0;
  rewriter->status = groups == NULL || is_done == NULL || cluster.groups == NULL
                         ? HX_STATUS_OUT_OF_MEMORY
                         : gather_groups(sums, rotated, groups, &count);
  for (size_t i = 0; i < count && rewriter->status == HX_STATUS_OK; ++i) {
    if (is_done[i]) continue;
    hx_ir_op_t *before = groups[i].sum->root;
    cluster.count = 0;
    for (size_t j = i; j < count; ++j) {
      if (is_done[j] || !are_alike(&groups[i], &groups[j], rotated)) continue;
      if (!are_weights_available(rewriter, &groups[j], before)) continue;
      is_done[j] = true;
      cluster.groups[cluster.count++] = groups[j];
    }
    if (cluster.count == 0) continue;
    if (rotated) {
      merge_rotated(rewriter, &cluster);
    } else {
      merge_products(rewriter, &cluster);
    }
  }
  hx_free(cluster.groups);
  hx_free(is_done);
  if (groups != NULL) free_groups(groups, count);
}

void hx_sums_merge_rotated(hx_rewriter_t *rewriter, hx_sums_t *sums) { merge_sums(rewriter, sums, true); }
void hx_sums_merge_products(hx_rewriter_t *rewriter, hx_sums_t *sums) { merge_sums(rewriter, sums, false); }
