// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// delta.c: the gated delta rule of linear attention.
#include <string.h>

#include "stream/ops/parts.h"

// `delta_rule` of attention.metal.
typedef struct delta_rule {
  uint32_t steps, heads, heads_per_key, value_size, key_size;
  int64_t query[4], key[4], value[4], gate[3], beta[3], state[4], out[4];
} delta_rule;

static const char name[] = "gated delta rule";
enum { MAX_KEY_SIZE = 512 };  // PARTS of attention.metal times 32

typedef struct tensors {
  const mtl_tensor *query, *key, *value, *gate, *beta, *state, *out;
} tensors;

static mtl_status check_types(const tensors *it) {
  const mtl_tensor *all[] = {it->query, it->key,   it->value, it->gate,
                             it->beta,  it->state, it->out};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    STREAM_TRY(ops_check_floating(name, "every tensor", all[i]));
  }
  if (it->key->type != it->query->type ||
      it->value->type != it->query->type) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "%s: query, key and value are of one type", name);
  }
  return MTL_OK;
}

static mtl_status check(const tensors *it) {
  STREAM_TRY(check_types(it));
  if (it->key->rank != 4 || it->value->rank != 4) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "%s: ranks %u and %u of key and "
                    "value; both are (batch, time, heads, size)",
                    name, it->key->rank, it->value->rank);
  }
  const int64_t *key = it->key->sizes, *value = it->value->sizes;
  if (key[2] == 0 || value[2] % key[2] != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: %lld heads of value over %lld of key", name,
                    (long long)value[2], (long long)key[2]);
  }
  if (key[3] > MAX_KEY_SIZE) {
    return mtl_fail(MTL_UNSUPPORTED, "%s: keys of %lld; at most %d", name,
                    (long long)key[3], MAX_KEY_SIZE);
  }
  const int64_t steps[] = {key[0], key[1], value[2], value[3]};
  STREAM_TRY(ops_check_sizes(name, "query", it->query, 4, key));
  STREAM_TRY(ops_check_sizes(name, "value", it->value, 4, steps));
  STREAM_TRY(ops_check_sizes(name, "out", it->out, 4, steps));
  STREAM_TRY(ops_check_sizes(name, "gate", it->gate, 3, steps));
  STREAM_TRY(ops_check_sizes(name, "beta", it->beta, 3, steps));
  return ops_check_sizes(name, "state", it->state, 4,
                         (int64_t[]){key[0], value[2], value[3], key[3]});
}

static delta_rule arguments_of(const tensors *it) {
  const int64_t *key = it->key->sizes, *value = it->value->sizes;
  delta_rule arguments = {
      .steps = (uint32_t)key[1],
      .heads = (uint32_t)value[2],
      .heads_per_key = (uint32_t)(value[2] / key[2]),
      .value_size = (uint32_t)value[3],
      .key_size = (uint32_t)key[3],
  };
  memcpy(arguments.query, it->query->strides, sizeof arguments.query);
  memcpy(arguments.key, it->key->strides, sizeof arguments.key);
  memcpy(arguments.value, it->value->strides, sizeof arguments.value);
  memcpy(arguments.gate, it->gate->strides, sizeof arguments.gate);
  memcpy(arguments.beta, it->beta->strides, sizeof arguments.beta);
  memcpy(arguments.state, it->state->strides, sizeof arguments.state);
  memcpy(arguments.out, it->out->strides, sizeof arguments.out);
  return arguments;
}

static mtl_status run(mtl_stream *stream, const tensors *it) {
  STREAM_TRY(check(it));
  if (mtl_tensor_count(it->out) == 0) {
    return MTL_OK;
  }
  const delta_rule arguments = arguments_of(it);
  return ops_record(
      stream,
      &(ops_dispatch){
          .source = ops_attention_metal,
          .kernel = "gated_delta_rule",
          .constants = {it->query->type, it->gate->type, it->state->type,
                        it->out->type, it->beta->type},
          .tensors = {it->query, it->key, it->value, it->gate, it->beta,
                      it->state, it->out},
          .tensor_count = 7,
          .arguments = &arguments,
          .arguments_bytes = sizeof arguments,
          .grid_threads = {32, arguments.value_size,
                           (uint64_t)it->key->sizes[0] * arguments.heads},
          .group_threads = {32, 4}});
}

mtl_status mtl_ops_gated_delta_rule(
    mtl_stream *stream, const mtl_tensor *query, const mtl_tensor *key,
    const mtl_tensor *value, const mtl_tensor *gate, const mtl_tensor *beta,
    const mtl_tensor *state, const mtl_tensor *out) {
  return ops_finish(stream, run(stream, &(tensors){query, key, value, gate,
                                                   beta, state, out}));
}
