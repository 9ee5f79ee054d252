// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread_steps.h: the vectoriser's steps over the thread function, in the order
// in which vectorize.c runs them.
#ifndef MTLC_THREAD_STEPS_H
#define MTLC_THREAD_STEPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/status.h"
#include "compiler/vectorize/vectorizer.h"

// True if each block of a function ends in a branch, a return or not at all.
bool lanes_has_plain_branches(LLVMValueRef function);

mtl_status lanes_step_expand_memcpy(lanes_vectorizer *v);
mtl_status lanes_step_normalise(lanes_vectorizer *v);
mtl_status lanes_step_recognise_tile_loads(lanes_vectorizer *v);
mtl_status lanes_step_split_geps(lanes_vectorizer *v);
mtl_status lanes_step_build_graph(lanes_vectorizer *v);
mtl_status lanes_step_split_exits(lanes_vectorizer *v);
mtl_status lanes_step_choose_width(lanes_vectorizer *v);
mtl_status lanes_step_canonical_strides(lanes_vectorizer *v);
mtl_status lanes_step_no_wrap(lanes_vectorizer *v);
mtl_status lanes_step_pointer_induction(lanes_vectorizer *v);
mtl_status lanes_step_unroll_row_walks(lanes_vectorizer *v);
mtl_status lanes_step_hoist_loads(lanes_vectorizer *v);
mtl_status lanes_step_dot_products(lanes_vectorizer *v);
mtl_status lanes_step_interchange_simdgroups(lanes_vectorizer *v);
mtl_status lanes_step_sink_tests(lanes_vectorizer *v);
mtl_status lanes_step_choose_group_class(lanes_vectorizer *v);
mtl_status lanes_step_merge_groups(lanes_vectorizer *v);
mtl_status lanes_step_version_interior(lanes_vectorizer *v);
mtl_status lanes_step_version_uniform(lanes_vectorizer *v);
mtl_status lanes_step_coalesce(lanes_vectorizer *v);

#endif
