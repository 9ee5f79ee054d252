// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variants.c: compiles code for classes of threadgroups other than the one that
// a pipeline was created for. It starts in the background when a dispatch that
// needs it is committed; a queue that reaches the dispatch earlier waits for
// it.
#include <stdlib.h>
#include <string.h>

#include "drivers/cpu/cpu.h"

struct cpu_variant {
  cpu_variant *next;
  cpu_pipeline *pipeline;
  mtli_group_class group_class;
  cpu_code code;
  _Atomic bool is_ready;  // code is there
  mtli_timeline ended;  // counts the finished attempts
  // Under the pipeline's lock:
  uint64_t begun;     // attempts
  uint32_t asked;     // while others served
  mtl_status status;  // of the last finished attempt
  char *text;         // malloc'ed
  // Of the attempt under way, which holds a reference to the pipeline:
  mtli_task task;
  mtli_lane *lane;
};

// --- classes -----------------------------------------------------------------

static uint32_t lesser(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// True if threadgroups whose rows have so many threads, those that the
// grid cuts off across rows among them, are whole simdgroups.
static bool is_whole(const uint32_t grid_threads[3],
                     const uint32_t group_threads[3], uint32_t row) {
  uint32_t sides[3][2];
  for (int i = 1; i < 3; i++) {
    const uint32_t rest = grid_threads[i] % group_threads[i];
    sides[i][0] = lesser(grid_threads[i], group_threads[i]);
    sides[i][1] = rest ? rest : sides[i][0];
  }
  bool whole = true;
  for (int i = 0; i < 4; i++) {
    whole &= (uint64_t)row * sides[1][i & 1] * sides[2][i >> 1] %
                 MTLI_LONGEST_ROW ==
             0;
  }
  return whole;
}

// True if a dispatch is given a buffer of MTLI_FAR_BYTES or more.
static bool is_far(const mtli_dispatch *dispatch) {
  uint64_t most_bytes = dispatch->argument_bytes ? 0 : UINT64_MAX;
  for (size_t i = 0; dispatch->argument_bytes &&
                     i < dispatch->pipeline->kernel->parameter_count;
       i++) {
    const uint64_t bytes = dispatch->argument_bytes[i];
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
  }
  return most_bytes >= MTLI_FAR_BYTES;
}

cpu_classes cpu_classes_of(const mtli_dispatch *dispatch,
                           const uint32_t grid_threads[3],
                           const uint32_t group_threads[3], uint32_t turn) {
  uint32_t size[3];
  for (int i = 0; i < 3; i++) {
    size[i] = lesser(grid_threads[i], group_threads[i]);
  }
  cpu_classes classes = {.whole = mtli_group_class_of(size, grid_threads[0])};
  classes.whole.is_whole = is_whole(grid_threads, group_threads, size[0]);
  classes.whole.is_far = is_far(dispatch);
  classes.whole.row_dimension = turn;
  if (grid_threads[1] % group_threads[1]) {
    classes.whole.simdgroups = 0;  // the last have fewer rows
  }
  classes.edge = classes.whole;
  const uint32_t rest = grid_threads[0] % group_threads[0];
  if (rest && size[0] == group_threads[0]) {
    size[0] = rest;
    const mtli_group_class edge = mtli_group_class_of(size, grid_threads[0]);
    // Keeps the number of classes small: a class that does not fit another
    // one's code takes general code.
    classes.edge.row = edge.row >= classes.whole.row ? classes.whole.row : 1;
    // Rows shorter than the others, whose length is exactly their class's.
    classes.edge.row = classes.whole.is_exact ? 1 : classes.edge.row;
    classes.edge.is_exact = false;
    classes.edge.simdgroups = 0;
    classes.edge.is_uneven = classes.whole.is_uneven;
    classes.edge.is_whole = is_whole(grid_threads, group_threads, rest);
  }
  return classes;
}

static bool fits_own(const cpu_pipeline *pipeline, mtli_group_class wanted) {
  const mtli_kernel *kernel = pipeline->pipeline.kernel;
  return kernel->group_class.row_dimension == wanted.row_dimension &&
         (!kernel->facts.needs_simdgroups ||
          kernel->group_class.simdgroups == wanted.simdgroups) &&
         (!kernel->facts.depends_on_row ||
          (kernel->group_class.row == wanted.row &&
           kernel->group_class.is_exact == wanted.is_exact)) &&
         (!kernel->facts.depends_on_uneven ||
          kernel->group_class.is_uneven == wanted.is_uneven) &&
         (!kernel->facts.depends_on_whole ||
          kernel->group_class.is_whole == wanted.is_whole) &&
         (!kernel->facts.depends_on_far ||
          kernel->group_class.is_far == wanted.is_far) &&
         (!kernel->facts.depends_on_single ||
          kernel->group_class.is_single == wanted.is_single);
}

// True if code made for a class would be better than the code for any number of
// simdgroups.
static bool has_better(const cpu_pipeline *pipeline, mtli_group_class wanted) {
  const mtli_kernel *kernel = pipeline->pipeline.kernel;
  return kernel->facts.depends_on_simdgroups && wanted.simdgroups &&
         !(fits_own(pipeline, wanted) &&
           kernel->group_class.simdgroups == wanted.simdgroups);
}

// Joins the classes that the kernel does not distinguish.
static mtli_group_class reduce(const cpu_pipeline *pipeline,
                               mtli_group_class wanted) {
  const mtli_kernel *kernel = pipeline->pipeline.kernel;
  return (mtli_group_class){
      .row = kernel->facts.depends_on_row ? wanted.row : kernel->group_class.row,
      .is_exact = kernel->facts.depends_on_row && wanted.is_exact,
      .is_single = kernel->facts.depends_on_single && wanted.is_single,
      .is_uneven = kernel->facts.depends_on_uneven && wanted.is_uneven,
      .is_whole = kernel->facts.depends_on_whole && wanted.is_whole,
      .is_far = kernel->facts.depends_on_far && wanted.is_far,
      .simdgroups = kernel->facts.depends_on_simdgroups ? wanted.simdgroups : 0,
      .row_dimension = wanted.row_dimension};
}

// --- attempts ----------------------------------------------------------------

static mtl_status take_container(void *context, const mtli_code *container) {
  return cpu_code_load(container, &((cpu_variant *)context)->code);
}

static void attempt_run(mtli_task *task) {
  cpu_variant *variant =
      (cpu_variant *)((char *)task - offsetof(cpu_variant, task));
  cpu_pipeline *pipeline = variant->pipeline;
  const mtl_status status = mtli_pipeline_compile_for(
      &pipeline->pipeline, variant->group_class, take_container, variant);
  pthread_mutex_lock(&pipeline->lock);
  free(variant->text);
  variant->status = status;
  variant->text = status == MTL_OK ? NULL : strdup(mtl_last_error());
  const uint64_t attempt = variant->begun;
  mtli_lane_end(variant->lane);
  pthread_mutex_unlock(&pipeline->lock);
  // pairs with the acquire in is_ready
  atomic_store_explicit(&variant->is_ready, status == MTL_OK,
                        memory_order_release);
  mtli_timeline_raise(&variant->ended, attempt);
  mtl_pipeline_release(&pipeline->pipeline);  // -1
}

// Begins an attempt, whose task must be posted. The lock is held.
static mtl_status attempt_begin(cpu_variant *variant) {
  mtli_lane *lane = mtli_lane_create();
  if (!lane) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pipeline's code");
  }
  mtl_pipeline_retain(&variant->pipeline->pipeline);  // +1
  variant->lane = lane;
  variant->task.run = attempt_run;
  variant->begun++;
  return MTL_OK;
}

// --- variants ----------------------------------------------------------------

static bool is_ready(cpu_variant *variant) {
  return atomic_load_explicit(&variant->is_ready, memory_order_acquire);
}

static cpu_variant *find(cpu_pipeline *pipeline, mtli_group_class wanted) {
  // pairs with the release in add
  cpu_variant *variant =
      atomic_load_explicit(&pipeline->variants, memory_order_acquire);
  while (variant && (variant->group_class.row != wanted.row ||
                     variant->group_class.is_exact != wanted.is_exact ||
                     variant->group_class.is_single != wanted.is_single ||
                     variant->group_class.is_uneven != wanted.is_uneven ||
                     variant->group_class.is_whole != wanted.is_whole ||
                     variant->group_class.is_far != wanted.is_far ||
                     variant->group_class.simdgroups != wanted.simdgroups ||
                     variant->group_class.row_dimension !=
                         wanted.row_dimension)) {
    variant = variant->next;
  }
  return variant;
}

// Adds an empty one; NULL when out of memory. The lock is held.
static cpu_variant *add(cpu_pipeline *pipeline, mtli_group_class wanted) {
  cpu_variant *variant = calloc(1, sizeof *variant);
  if (variant) {
    variant->pipeline = pipeline;
    variant->group_class = wanted;
    mtli_timeline_init(&variant->ended, 0);
    variant->next =
        atomic_load_explicit(&pipeline->variants, memory_order_relaxed);
    // pairs with the acquire in find
    atomic_store_explicit(&pipeline->variants, variant, memory_order_release);
  }
  return variant;
}

typedef enum request_kind {
  TO_BE_RUN,  // returns the error of a failed attempt
  TO_BE_RETRIED,  // begins a failed attempt anew
  // Others serve until it is there: not to be made for what runs once, nor
  // again if it has failed.
  WHEN_ASKED_AGAIN,
} request_kind;
enum { LEAST_ASKED = 2 };

// Advances a variant's state. The lock is held. *out_begins is true if an
// attempt has begun, whose task must be posted.
static mtl_status advance_state(cpu_variant *variant, request_kind how, bool *out_begins) {
  const bool is_pending = mtli_timeline_value(&variant->ended) < variant->begun;
  const bool has_failed = !is_pending && variant->status != MTL_OK;
  if (how == WHEN_ASKED_AGAIN &&
      (variant->begun || ++variant->asked < LEAST_ASKED)) {
    return MTL_OK;
  }
  if (!variant->begun || (has_failed && how == TO_BE_RETRIED)) {
    *out_begins = true;
    return attempt_begin(variant);
  }
  return has_failed
             ? mtli_fail(variant->status,
                         "code of kernel '%s' for other threadgroups: %s",
                         variant->pipeline->pipeline.kernel->name,
                         variant->text ? variant->text : "")
             : MTL_OK;
}

// Finds a variant: ready, under way or, if it is wanted when it is asked for
// again, not begun.
static mtl_status obtain(cpu_pipeline *pipeline, mtli_group_class group_class,
                         request_kind how, cpu_variant **out_variant) {
  const mtli_group_class wanted = reduce(pipeline, group_class);
  cpu_variant *variant = find(pipeline, wanted);
  *out_variant = variant;
  if (variant && is_ready(variant)) {
    return MTL_OK;
  }
  bool begins = false;
  pthread_mutex_lock(&pipeline->lock);
  variant = find(pipeline, wanted);
  variant = variant ? variant : add(pipeline, wanted);
  const mtl_status status =
      variant ? advance_state(variant, how, &begins)
              : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pipeline's code");
  mtli_lane *lane = variant ? variant->lane : NULL;
  pthread_mutex_unlock(&pipeline->lock);
  if (status == MTL_OK && begins) {
    mtli_lane_post(lane, &variant->task);
  }
  *out_variant = variant;
  return status;
}

mtl_status cpu_code_find(cpu_pipeline *pipeline, mtli_group_class group_class,
                         const cpu_code **out_code, cpu_variant **out_variant) {
  *out_code = &pipeline->code;
  *out_variant = NULL;
  if (has_better(pipeline, group_class)) {
    cpu_variant *variant = find(pipeline, reduce(pipeline, group_class));
    if (variant && is_ready(variant)) {
      *out_code = &variant->code;
      return MTL_OK;
    }
    group_class.simdgroups = 0;
  }
  if (fits_own(pipeline, group_class)) {
    return MTL_OK;
  }
  *out_code = NULL;
  MTL_TRY(obtain(pipeline, group_class, TO_BE_RUN, out_variant));
  if (is_ready(*out_variant)) {
    *out_code = &(*out_variant)->code;
  }
  return MTL_OK;
}

void cpu_code_prepare(cpu_pipeline *pipeline, mtli_group_class group_class) {
  cpu_variant *variant;
  if (has_better(pipeline, group_class)) {
    (void)obtain(pipeline, group_class, WHEN_ASKED_AGAIN, &variant);
    group_class.simdgroups = 0;
  }
  if (!fits_own(pipeline, group_class)) {
    // A failure is reported when the dispatch runs.
    (void)obtain(pipeline, group_class, TO_BE_RETRIED, &variant);
  }
}

bool cpu_variant_watch(cpu_variant *variant, mtli_watcher *watcher) {
  cpu_pipeline *pipeline = variant->pipeline;
  pthread_mutex_lock(&pipeline->lock);
  watcher->threshold = variant->begun;
  pthread_mutex_unlock(&pipeline->lock);
  return mtli_timeline_watch(&variant->ended, watcher);
}

void cpu_variants_free(cpu_pipeline *pipeline) {
  const bool is_inherited = mtli_device_is_inherited(pipeline->pipeline.device);
  // Relaxed: this thread has the last reference.
  cpu_variant *variant =
      atomic_load_explicit(&pipeline->variants, memory_order_relaxed);
  while (variant) {
    cpu_variant *next = variant->next;
    if (is_ready(variant)) {
      cpu_code_unload(&variant->code, is_inherited);
    }
    (void)mtli_timeline_end(&variant->ended);
    free(variant->text);
    free(variant);
    variant = next;
  }
}
