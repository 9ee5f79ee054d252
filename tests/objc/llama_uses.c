// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// llama_uses.c: llama_uses MODEL LAYERS PROMPT STEPS OUT: decodes PROMPT
// tokens, then STEPS more, each the likeliest, with LAYERS on Metal. OUT gets
// the logits of every position as float32; printed are the layers on Metal, the
// tokens, and tokens a second of processor time of both parts; the last alone
// if OUT is -.
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"

enum { THREADS = 1 };  // more threads would spin while they wait for each other

static void quiet(enum ggml_log_level level, const char *text, void *unused) {
  (void)unused;
  const char *layers = strstr(text, "offloaded ");
  if (layers) {
    printf("%s", layers);
  } else if (level >= GGML_LOG_LEVEL_WARN) {
    fputs(text, stderr);
  }
}

// Processor time: other programs have the machine as well.
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static llama_token likeliest(const float *logits, int count) {
  int best = 0;
  for (int i = 1; i < count; ++i) {
    best = logits[i] > logits[best] ? i : best;
  }
  return best;
}

// Decodes tokens [count] behind the position first and writes their logits.
static const float *decode(struct llama_context *context, int words,
                           const llama_token *tokens, int count, int first,
                           FILE *out) {
  struct llama_batch batch = llama_batch_init(count, 0, 1);
  for (int i = 0; i < count; ++i) {
    batch.token[i] = tokens[i];
    batch.pos[i] = first + i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  batch.n_tokens = count;
  if (llama_decode(context, batch)) {
    fail("llama_decode fails");
  }
  llama_batch_free(batch);
  const float *last = NULL;
  for (int i = 0; i < count; ++i) {
    last = llama_get_logits_ith(context, i);
    if (!last || (out && fwrite(last, sizeof *last, (size_t)words, out) !=
                             (size_t)words)) {
      fail("no logits");
    }
  }
  return last;
}

int main(int count, char **words) {
  if (count != 6) {
    fail("usage: llama_uses MODEL LAYERS PROMPT STEPS OUT");
  }
  const int layers = atoi(words[2]), prompt = atoi(words[3]),
            steps = atoi(words[4]);
  llama_log_set(quiet, NULL);
  llama_backend_init();
  ggml_backend_dev_t none[] = {NULL};
  struct llama_model_params choice = llama_model_default_params();
  choice.n_gpu_layers = layers;
  choice.devices = layers ? NULL : none;
  struct llama_model *model = llama_model_load_from_file(words[1], choice);
  struct llama_context_params how = llama_context_default_params();
  how.n_ctx = (uint32_t)(prompt + steps);
  how.n_batch = how.n_ubatch = (uint32_t)prompt;
  how.n_threads = how.n_threads_batch = THREADS;
  struct llama_context *context =
      model ? llama_init_from_model(model, how) : NULL;
  if (!context) {
    fail("no model");
  }
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  FILE *out = strcmp(words[5], "-") ? fopen(words[5], "wb") : NULL;
  llama_token *tokens = calloc((size_t)prompt, sizeof *tokens);
  for (int i = 0; i < prompt; ++i) {
    tokens[i] = (i * 37 + 11) % vocabulary;
  }
  if (!out) {  // untimed: compiles and allocates everything first
    decode(context, vocabulary, tokens, prompt, 0, NULL);
    decode(context, vocabulary, tokens, 1, prompt, NULL);
    llama_memory_clear(llama_get_memory(context), true);
  }
  const double begin = seconds();
  const float *logits =
      decode(context, vocabulary, tokens, prompt, 0, out);
  const double middle = seconds();
  for (int i = 0; i < steps; ++i) {
    const llama_token next = likeliest(logits, vocabulary);
    printf("%d ", (int)next);
    logits = decode(context, vocabulary, &next, 1, prompt + i, out);
  }
  const double end = seconds();
  printf("\n%.3f %.3f\n", prompt / (middle - begin), steps / (end - middle));
  if (out && fclose(out)) {
    fail("cannot write the logits");
  }
  free(tokens);
  llama_free(context);
  llama_model_free(model);
  return 0;
}
