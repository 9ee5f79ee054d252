// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_convolution.c: loads the convolution functions of oneDNN 2 at run time.
// Its structs are declared by size alone.
#include "stream/libraries/host_convolution.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "stream/libraries/host_library.h"

// Source: include/oneapi/dnnl/dnnl_types.h, 2.6
enum {
  MEMORY_DESC_BYTES = 696,
  CONVOLUTION_DESC_BYTES = 5976,
  FLOAT = 3,
  ANY = 1,
  NHWC = 20,
  OIHW = 5,
  GOIHW = 7,
  FORWARD_INFERENCE = 96,
  DIRECT = 1,
  SCRATCHPAD_USER = 1,
  CPU = 1,
  QUERY_IMPLEMENTATION = 8,
  QUERY_WEIGHTS = 131,
  QUERY_SCRATCHPAD = 136,
  ARGUMENT_SOURCE = 1,
  ARGUMENT_TARGET = 17,
  ARGUMENT_WEIGHTS = 33,
  ARGUMENT_SCRATCHPAD = 80,
  DIMENSIONS_MAX = 12,
};

typedef struct memory_desc {
  alignas(int64_t) char bytes[MEMORY_DESC_BYTES];  // as oneDNN aligns its own
} memory_desc;

typedef struct convolution_desc {
  alignas(16) char bytes[(CONVOLUTION_DESC_BYTES + 15) / 16 * 16];
} convolution_desc;

typedef struct dimensions {
  int64_t at[DIMENSIONS_MAX];
} dimensions;

typedef struct argument {
  int index;
  void *memory;
} argument;

// All return 0 for success; handles are pointers to structs of oneDNN's.
static struct {
  bool is_there;
  void *engine;
  int (*engine_create)(void **, int kind, size_t index);
  int (*stream_create)(void **, void *engine, unsigned flags);
  int (*stream_destroy)(void *);
  int (*desc_init)(memory_desc *, int rank, const int64_t *sizes, int type,
                   int tag);
  size_t (*desc_size)(const memory_desc *);
  int (*convolution_init)(convolution_desc *, int kind, int algorithm,
                          const memory_desc *in, const memory_desc *weights,
                          const memory_desc *bias, const memory_desc *out,
                          const int64_t *strides, const int64_t *dilates,
                          const int64_t *before, const int64_t *after);
  int (*attributes_create)(void **);
  int (*attributes_destroy)(void *);
  int (*attributes_set_scratchpad)(void *, int mode);
  int (*primitive_desc_create)(void **, const convolution_desc *,
                               void *attributes, void *engine, void *hint);
  int (*primitive_desc_destroy)(void *);
  const memory_desc *(*query_desc)(void *primitive_desc, int what, int index);
  int (*query)(void *primitive_desc, int what, int index, void *result);
  int (*reorder_create)(void **, const memory_desc *from, void *from_engine,
                        const memory_desc *to, void *to_engine,
                        void *attributes);
  int (*primitive_create)(void **, void *primitive_desc);
  int (*primitive_destroy)(void *);
  int (*execute)(void *primitive, void *stream, int count, const argument *);
  int (*memory_create)(void **, const memory_desc *, void *engine, void *data);
  int (*memory_destroy)(void *);
} onednn;

struct host_convolution {
  void *primitive;
  memory_desc in, weights, out, scratch;
  memory_desc plain;  // of the weights as they come
};

static bool find_functions(void *handle) {
  const struct {
    const char *name;
    void *place;
  } functions[] = {
      {"engine_create", &onednn.engine_create},
      {"stream_create", &onednn.stream_create},
      {"stream_destroy", &onednn.stream_destroy},
      {"memory_desc_init_by_tag", &onednn.desc_init},
      {"memory_desc_get_size", &onednn.desc_size},
      {"dilated_convolution_forward_desc_init", &onednn.convolution_init},
      {"primitive_attr_create", &onednn.attributes_create},
      {"primitive_attr_destroy", &onednn.attributes_destroy},
      {"primitive_attr_set_scratchpad_mode", &onednn.attributes_set_scratchpad},
      {"primitive_desc_create", &onednn.primitive_desc_create},
      {"primitive_desc_destroy", &onednn.primitive_desc_destroy},
      {"primitive_desc_query_md", &onednn.query_desc},
      {"primitive_desc_query", &onednn.query},
      {"reorder_primitive_desc_create", &onednn.reorder_create},
      {"primitive_create", &onednn.primitive_create},
      {"primitive_destroy", &onednn.primitive_destroy},
      {"primitive_execute", &onednn.execute},
      {"memory_create", &onednn.memory_create},
      {"memory_destroy", &onednn.memory_destroy},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    char name[64] = "dnnl_";
    strncat(name, functions[i].name, sizeof name - strlen(name) - 1);
    void *found = dlsym(handle, name);
    if (!found) {
      return false;
    }
    memcpy(functions[i].place, &found, sizeof found);
  }
  return true;
}

static void load(void) {
  void *handle = host_library_onednn();
  // Version 3 has another interface; it lacks the second name of the first.
  onednn.is_there = handle && find_functions(handle) &&
                    onednn.engine_create(&onednn.engine, CPU, 0) == 0;
}

static bool is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return onednn.is_there;
}

// --- Preparing ---------------------------------------------------------------

static bool describe(const host_convolution_shape *s, const memory_desc *packed,
                     host_convolution *it, convolution_desc *desc) {
  const dimensions in = {{1, s->in_channels, s->in_size[0], s->in_size[1]}};
  const dimensions out = {{1, s->out_channels, s->out_size[0], s->out_size[1]}};
  const dimensions weights = {
      {s->out_channels, s->in_channels, s->window[0], s->window[1]}};
  const dimensions grouped = {
      {s->out_channels, 1, 1, s->window[0], s->window[1]}};
  const int rank = s->is_depthwise ? 5 : 4;
  const int64_t *sizes = s->is_depthwise ? grouped.at : weights.at;
  memory_desc wanted;
  if (onednn.desc_init(&it->in, 4, in.at, FLOAT, NHWC) != 0 ||
      onednn.desc_init(&it->out, 4, out.at, FLOAT, NHWC) != 0 ||
      onednn.desc_init(&it->plain, rank, sizes, FLOAT,
                       s->is_depthwise ? GOIHW : OIHW) != 0 ||
      onednn.desc_init(&wanted, rank, sizes, FLOAT, ANY) != 0) {
    return false;
  }
  const int64_t dilates[] = {s->dilation[0] - 1, s->dilation[1] - 1};
  return onednn.convolution_init(desc, FORWARD_INFERENCE, DIRECT, &it->in,
                                 packed ? packed : &wanted, NULL, &it->out,
                                 s->stride, dilates, s->before, s->after) == 0;
}

// oneDNN's reference implementations, one element at a time, are slower than
// ours.
static bool is_good(void *primitive_desc) {
  const char *name = NULL;
  return onednn.query(primitive_desc, QUERY_IMPLEMENTATION, 0, (void *)&name) ==
             0 &&
         !strstr(name, "ref") && !strstr(name, "gemm:");
}

static bool make_primitive(const convolution_desc *desc, host_convolution *it) {
  void *attributes = NULL;
  if (onednn.attributes_create(&attributes) != 0) {
    return false;
  }
  void *primitive_desc = NULL;
  bool ok =
      onednn.attributes_set_scratchpad(attributes, SCRATCHPAD_USER) == 0 &&
      onednn.primitive_desc_create(&primitive_desc, desc, attributes,
                                   onednn.engine, NULL) == 0;
  onednn.attributes_destroy(attributes);
  if (!ok) {
    return false;
  }
  const memory_desc *weights =
      onednn.query_desc(primitive_desc, QUERY_WEIGHTS, 0);
  const memory_desc *scratch =
      onednn.query_desc(primitive_desc, QUERY_SCRATCHPAD, 0);
  ok = weights && scratch && is_good(primitive_desc) &&
       onednn.primitive_create(&it->primitive, primitive_desc) == 0;
  if (ok) {
    memcpy(it->weights.bytes, weights->bytes, MEMORY_DESC_BYTES);
    memcpy(it->scratch.bytes, scratch->bytes, MEMORY_DESC_BYTES);
  }
  onednn.primitive_desc_destroy(primitive_desc);
  return ok;
}

host_convolution *host_convolution_create(const host_convolution_shape *shape,
                                          const host_convolution *like) {
  if (!is_there()) {
    return NULL;
  }
  host_convolution *it = calloc(1, sizeof *it);
  convolution_desc *desc = calloc(1, sizeof *desc);
  // The code is specialised for the present number of threads.
  const int threads = host_library_enter();
  const bool ok = it && desc &&
                  describe(shape, like ? &like->weights : NULL, it, desc) &&
                  make_primitive(desc, it);
  host_library_leave(threads);
  free(desc);
  if (!ok) {
    free(it);
    return NULL;
  }
  return it;
}

void host_convolution_delete(host_convolution *it) {
  if (it) {
    onednn.primitive_destroy(it->primitive);
    free(it);
  }
}

size_t host_convolution_weight_bytes(const host_convolution *it) {
  return onednn.desc_size(&it->weights);
}

size_t host_convolution_scratch_bytes(const host_convolution *it) {
  return onednn.desc_size(&it->scratch);
}

// --- Running -----------------------------------------------------------------

typedef struct operand {
  int index;
  const memory_desc *desc;
  const void *data;
} operand;

// Executes a primitive over operands [count], at most 4.
static bool execute(void *primitive, const operand *operands, int count) {
  argument arguments[4];
  int made = 0;
  while (made < count && onednn.memory_create(
                             &arguments[made].memory, operands[made].desc,
                             onednn.engine, (void *)operands[made].data) == 0) {
    arguments[made].index = operands[made].index;
    ++made;
  }
  const int threads = host_library_enter();
  void *stream = NULL;
  const bool ok = made == count &&
                  onednn.stream_create(&stream, onednn.engine, 1) == 0 &&
                  onednn.execute(primitive, stream, count, arguments) == 0;
  if (stream) {
    onednn.stream_destroy(stream);
  }
  host_library_leave(threads);
  while (made > 0) {
    onednn.memory_destroy(arguments[--made].memory);
  }
  return ok;
}

bool host_convolution_pack(const host_convolution *it, const float *weights,
                           void *packed) {
  void *primitive_desc = NULL;
  void *primitive = NULL;
  const int threads = host_library_enter();
  bool ok = onednn.reorder_create(&primitive_desc, &it->plain, onednn.engine,
                                  &it->weights, onednn.engine, NULL) == 0;
  if (ok) {
    ok = onednn.primitive_create(&primitive, primitive_desc) == 0;
    onednn.primitive_desc_destroy(primitive_desc);
  }
  host_library_leave(threads);
  if (ok) {
    const operand operands[] = {{ARGUMENT_SOURCE, &it->plain, weights},
                                {ARGUMENT_TARGET, &it->weights, packed}};
    ok = execute(primitive, operands, 2);
    onednn.primitive_destroy(primitive);
  }
  return ok;
}

bool host_convolution_run(const host_convolution *it, const float *in,
                          const void *packed, float *out, void *scratch) {
  const operand operands[] = {{ARGUMENT_SOURCE, &it->in, in},
                              {ARGUMENT_WEIGHTS, &it->weights, packed},
                              {ARGUMENT_TARGET, &it->out, out},
                              {ARGUMENT_SCRATCHPAD, &it->scratch, scratch}};
  return execute(it->primitive, operands, 4);
}
