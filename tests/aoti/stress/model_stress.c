// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_stress.c: runs models from many threads at a time, loads and unloads
// them in between, and holds each run to the first one: to rounding, as what
// follows from constants alone is kept from the second run on, and convolutions
// take another way then.
//
//   model_stress THREADS ROUNDS FOLDER...
//
// A folder has model.so, its weights, and inputs.txt: for each input a line
// "TYPE SIZE... FILE", TYPE a mtl_scalar_type, FILE the elements as they lie in
// memory. The first run's outputs are left there as 0.raw, 1.raw, ... Then
// THREADS threads take ROUNDS turns each: every other one with a model that all
// threads share, the rest with one of their own, released before its work is
// done. run_stress.py makes the folders and looks at the outputs.
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mettle/mettle.h"
#include "mettle/model.h"

enum { INPUTS_MAX = 64, LINE_BYTES = 4096 };

typedef struct model_job {
  const char *folder;
  mtl_model *model;  // shared
  mtl_model_tensor inputs[INPUTS_MAX];
  size_t input_count;
  size_t output_count;
  void **wanted;  // [output_count]
} model_job;

typedef struct worker_thread {
  model_job *jobs;  // [job_count], every thread's
  int job_count;
  int rounds;
  int first;  // the job that this thread starts with
  pthread_t thread;
} worker_thread;

static void fail(const char *folder, const char *what) {
  fprintf(stderr, "%s: %s\n", folder, what);
  exit(1);
}

static void check(const char *folder, mtl_status status) {
  if (status != MTL_OK) {
    fail(folder, mtl_last_error());
  }
}

// --- Inputs ------------------------------------------------------------------

static size_t bytes_of(const mtl_model_tensor *tensor) {
  size_t bytes = mtl_scalar_type_size(tensor->type);
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    bytes *= (size_t)tensor->sizes[i];
  }
  return bytes;
}

static mtl_model_tensor read_input(const char *folder, char *line,
                                   mtl_device *device) {
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  uint32_t rank = 0;
  char *rest = line;
  const mtl_scalar_type type = (mtl_scalar_type)strtol(rest, &rest, 10);
  char *end = rest;
  for (int64_t size = strtoll(rest, &end, 10); end != rest;
       size = strtoll(rest, &end, 10)) {
    sizes[rank++] = size;
    rest = end;
  }
  mtl_model_tensor tensor = mtl_model_tensor_make(NULL, type, rank, sizes);
  const size_t bytes = bytes_of(&tensor);
  const mtl_buffer_desc desc = {.length_bytes = bytes ? bytes : 1};
  check(folder, mtl_buffer_create(device, &desc, &tensor.buffer));
  rest[strcspn(rest, "\n")] = '\0';
  FILE *file = fopen(rest + 1, "rb");
  if (file == NULL ||
      fread(mtl_buffer_contents(tensor.buffer), 1, bytes, file) != bytes) {
    fail(folder, "an input cannot be read");
  }
  fclose(file);
  return tensor;
}

static void read_inputs(model_job *job, mtl_device *device) {
  char path[LINE_BYTES];
  char line[LINE_BYTES];
  snprintf(path, sizeof path, "%s/inputs.txt", job->folder);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fail(path, "cannot be read");
  }
  while (job->input_count < INPUTS_MAX && fgets(line, sizeof line, file)) {
    job->inputs[job->input_count++] = read_input(job->folder, line, device);
  }
  fclose(file);
}

static mtl_model *load(const model_job *job) {
  char path[LINE_BYTES];
  snprintf(path, sizeof path, "%s/model.so", job->folder);
  mtl_model *model = NULL;
  check(job->folder, mtl_model_load(path, NULL, &model));
  return model;
}

// --- Outputs -----------------------------------------------------------------

static void pack(const mtl_model_tensor *tensor, uint32_t dimension,
                 const char *from, char **target) {
  const size_t size = mtl_scalar_type_size(tensor->type);
  if (dimension == tensor->rank) {
    memcpy(*target, from, size);
    *target += size;
    return;
  }
  for (int64_t i = 0; i < tensor->sizes[dimension]; ++i) {
    pack(tensor, dimension + 1,
         from + i * tensor->strides[dimension] * (int64_t)size, target);
  }
}

// Yours: free it.
static void *packed(const mtl_model_tensor *tensor) {
  char *data = malloc(bytes_of(tensor) + 1);
  char *end = data;
  if (data != NULL && bytes_of(tensor) > 0) {
    pack(tensor, 0,
         (char *)mtl_buffer_contents(tensor->buffer) + tensor->offset_bytes,
         &end);
  }
  return data;
}

static void keep_outputs(model_job *job, const mtl_model_result *result) {
  job->output_count = mtl_model_result_count(result);
  job->wanted = calloc(job->output_count, sizeof *job->wanted);
  for (size_t i = 0; i < job->output_count; ++i) {
    mtl_model_tensor output;
    char path[LINE_BYTES];
    check(job->folder, mtl_model_result_get(result, i, &output));
    job->wanted[i] = packed(&output);
    snprintf(path, sizeof path, "%s/%zu.raw", job->folder, i);
    FILE *file = fopen(path, "wb");
    const size_t bytes = bytes_of(&output);
    if (file == NULL || fwrite(job->wanted[i], 1, bytes, file) != bytes ||
        fclose(file) != 0) {
      fail(path, "cannot be written");
    }
  }
}

static double number(mtl_scalar_type type, const void *data, size_t i) {
  float number;
  switch (type) {
    case MTL_SCALAR_FLOAT16: return ((const _Float16 *)data)[i];
    case MTL_SCALAR_FLOAT32: return ((const float *)data)[i];
    default: break;
  }
  const uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static bool is_close(mtl_scalar_type type, const void *got, const void *want,
                     size_t bytes) {
  if (memcmp(got, want, bytes) == 0) {
    return true;
  }
  if (type != MTL_SCALAR_FLOAT16 && type != MTL_SCALAR_FLOAT32 &&
      type != MTL_SCALAR_BFLOAT16) {
    return false;
  }
  double difference = 0;
  double scale = 0;
  for (size_t i = 0; i < bytes / mtl_scalar_type_size(type); ++i) {
    const double wanted = number(type, want, i);
    if (isfinite(wanted)) {
      difference = fmax(difference, fabs(number(type, got, i) - wanted));
      scale = fmax(scale, fabs(wanted));
    }
  }
  return difference <= scale * (type == MTL_SCALAR_FLOAT32 ? 1e-5 : 1e-2);
}

static void compare_outputs(const model_job *job,
                            const mtl_model_result *result) {
  for (size_t i = 0; i < job->output_count; ++i) {
    mtl_model_tensor output;
    check(job->folder, mtl_model_result_get(result, i, &output));
    void *got = packed(&output);
    if (!is_close(output.type, got, job->wanted[i], bytes_of(&output))) {
      fail(job->folder, "a run gave another result than the first");
    }
    free(got);
  }
}

// --- Runs --------------------------------------------------------------------

// With inputs of its own, as models may write into them.
static mtl_model_result *begin(const model_job *job, mtl_model *model,
                               mtl_stream *stream) {
  mtl_model_tensor inputs[INPUTS_MAX];
  for (size_t i = 0; i < job->input_count; ++i) {
    inputs[i] = job->inputs[i];
    const mtl_buffer_desc desc = {
        .length_bytes = mtl_buffer_length(inputs[i].buffer),
        .bytes = mtl_buffer_contents(inputs[i].buffer)};
    check(job->folder, mtl_buffer_create(mtl_stream_device(stream), &desc,
                                         &inputs[i].buffer));
  }
  mtl_model_result *result = NULL;
  check(job->folder,
        mtl_model_run(model, stream, inputs, job->input_count, &result));
  for (size_t i = 0; i < job->input_count; ++i) {
    mtl_buffer_release(inputs[i].buffer);  // the run has it
  }
  return result;
}

static void take_turn(const model_job *job, mtl_stream *stream, bool is_own) {
  mtl_model *model = is_own ? load(job) : job->model;
  mtl_model_result *first = begin(job, model, stream);
  mtl_model_result *second = begin(job, model, stream);
  if (is_own) {
    mtl_model_release(model);  // its work is pending
  }
  check(job->folder, mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  compare_outputs(job, first);
  compare_outputs(job, second);
  mtl_model_result_release(first);
  mtl_model_result_release(second);
}

static void *work(void *context) {
  const worker_thread *worker = context;
  mtl_stream *stream = NULL;
  check("stream", mtl_stream_create(NULL, NULL, &stream));
  for (int i = 0; i < worker->rounds; ++i) {
    const model_job *job =
        &worker->jobs[(worker->first + i) % worker->job_count];
    take_turn(job, stream, (worker->first + i / worker->job_count) % 2);
  }
  mtl_stream_release(stream);
  return NULL;
}

static void prepare(model_job *job, mtl_stream *stream) {
  read_inputs(job, mtl_stream_device(stream));
  job->model = load(job);
  mtl_model_result *result = begin(job, job->model, stream);
  check(job->folder, mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  keep_outputs(job, result);
  mtl_model_result_release(result);
}

static void finish(model_job *job) {
  mtl_model_release(job->model);
  for (size_t i = 0; i < job->input_count; ++i) {
    mtl_buffer_release(job->inputs[i].buffer);
  }
  for (size_t i = 0; i < job->output_count; ++i) {
    free(job->wanted[i]);
  }
  free(job->wanted);
}

int main(int argc, char **argv) {
  const int thread_count = argc > 3 ? atoi(argv[1]) : 0;
  const int job_count = argc - 3;
  if (thread_count <= 0) {
    fprintf(stderr, "usage: model_stress THREADS ROUNDS FOLDER...\n");
    return 2;
  }
  model_job *jobs = calloc((size_t)job_count, sizeof *jobs);
  worker_thread *workers = calloc((size_t)thread_count, sizeof *workers);
  mtl_stream *stream = NULL;
  check("stream", mtl_stream_current(&stream));
  for (int i = 0; i < job_count; ++i) {
    jobs[i].folder = argv[3 + i];
    prepare(&jobs[i], stream);
  }
  for (int i = 0; i < thread_count; ++i) {
    workers[i] = (worker_thread){.jobs = jobs,
                                 .job_count = job_count,
                                 .rounds = atoi(argv[2]),
                                 .first = i};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
      fail("thread", "cannot be started");
    }
  }
  for (int i = 0; i < thread_count; ++i) {
    pthread_join(workers[i].thread, NULL);
  }
  for (int i = 0; i < job_count; ++i) {
    finish(&jobs[i]);
  }
  free(jobs);
  free(workers);
  return 0;
}
