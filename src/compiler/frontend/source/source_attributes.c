// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source_attributes.c: rewrites Metal's attributes as GNU attributes, which
// clang accepts wherever Metal allows one and passes on unread.
#include "compiler/frontend/source/source_scan.h"

// The form in which an attribute's arguments are passed to clang.
typedef enum attribute_form {
  FORM_BARE,       // the name alone: kernels need none of the rest
  FORM_NOTHING,    // dropped: names for the stages of a graphics pipeline
  FORM_ARGUMENTS,  // constant expressions
  FORM_TEXT,       // a string, joined to the name
  FORM_CONSTANT,   // function_constant: an index or a reference
} attribute_form;

typedef struct attribute {
  const char *name;
  const char *literal;
  attribute_form form;
} attribute;

#define ATTRIBUTE(name, form) {#name, "\"mettle." #name "\"", FORM_##form}

// The attributes of the MSL specification, chapter 5. The graphics ones are
// known so that a file with a kernel and a fragment function compiles.
static const attribute known_attributes[] = {
    ATTRIBUTE(buffer, ARGUMENTS),
    ATTRIBUTE(texture, ARGUMENTS),
    ATTRIBUTE(sampler, ARGUMENTS),
    ATTRIBUTE(threadgroup, ARGUMENTS),
    ATTRIBUTE(id, ARGUMENTS),
    ATTRIBUTE(function_constant, CONSTANT),
    {"host_name", "\"mettle.host_name:\"", FORM_TEXT},
    ATTRIBUTE(kernel, BARE),
    ATTRIBUTE(max_total_threads_per_threadgroup, ARGUMENTS),
    ATTRIBUTE(required_threads_per_threadgroup, ARGUMENTS),
    ATTRIBUTE(visible, BARE),
    ATTRIBUTE(stitchable, BARE),
    ATTRIBUTE(thread_position_in_grid, BARE),
    ATTRIBUTE(thread_position_in_threadgroup, BARE),
    ATTRIBUTE(threadgroup_position_in_grid, BARE),
    ATTRIBUTE(threads_per_threadgroup, BARE),
    ATTRIBUTE(dispatch_threads_per_threadgroup, BARE),
    ATTRIBUTE(threads_per_grid, BARE),
    ATTRIBUTE(threadgroups_per_grid, BARE),
    ATTRIBUTE(grid_origin, BARE),
    ATTRIBUTE(grid_size, BARE),
    ATTRIBUTE(thread_index_in_threadgroup, BARE),
    ATTRIBUTE(thread_index_in_simdgroup, BARE),
    ATTRIBUTE(thread_index_in_quadgroup, BARE),
    ATTRIBUTE(simdgroup_index_in_threadgroup, BARE),
    ATTRIBUTE(quadgroup_index_in_threadgroup, BARE),
    ATTRIBUTE(simdgroups_per_threadgroup, BARE),
    ATTRIBUTE(quadgroups_per_threadgroup, BARE),
    ATTRIBUTE(dispatch_simdgroups_per_threadgroup, BARE),
    ATTRIBUTE(dispatch_quadgroups_per_threadgroup, BARE),
    ATTRIBUTE(threads_per_simdgroup, BARE),
    ATTRIBUTE(thread_execution_width, BARE),
    ATTRIBUTE(stage_in, BARE),
    // Graphics.
    ATTRIBUTE(vertex, BARE),
    ATTRIBUTE(fragment, BARE),
    ATTRIBUTE(mesh, BARE),
    ATTRIBUTE(object, BARE),
    ATTRIBUTE(intersection, BARE),
    ATTRIBUTE(attribute, BARE),
    ATTRIBUTE(position, BARE),
    ATTRIBUTE(color, BARE),
    ATTRIBUTE(depth, BARE),
    ATTRIBUTE(stencil, BARE),
    ATTRIBUTE(user, NOTHING),
    ATTRIBUTE(flat, BARE),
    ATTRIBUTE(center_perspective, BARE),
    ATTRIBUTE(center_no_perspective, BARE),
    ATTRIBUTE(centroid_perspective, BARE),
    ATTRIBUTE(centroid_no_perspective, BARE),
    ATTRIBUTE(sample_perspective, BARE),
    ATTRIBUTE(sample_no_perspective, BARE),
    ATTRIBUTE(point_size, BARE),
    ATTRIBUTE(point_coord, BARE),
    ATTRIBUTE(clip_distance, BARE),
    ATTRIBUTE(front_facing, BARE),
    ATTRIBUTE(vertex_id, BARE),
    ATTRIBUTE(instance_id, BARE),
    ATTRIBUTE(base_vertex, BARE),
    ATTRIBUTE(base_instance, BARE),
    ATTRIBUTE(primitive_id, BARE),
    ATTRIBUTE(patch, BARE),
    ATTRIBUTE(patch_id, BARE),
    ATTRIBUTE(position_in_patch, BARE),
    ATTRIBUTE(barycentric_coord, BARE),
    ATTRIBUTE(sample_id, BARE),
    ATTRIBUTE(sample_mask, BARE),
    ATTRIBUTE(render_target_array_index, BARE),
    ATTRIBUTE(viewport_array_index, BARE),
    ATTRIBUTE(early_fragment_tests, BARE),
    ATTRIBUTE(raster_order_group, BARE),
    ATTRIBUTE(amplification_id, BARE),
    ATTRIBUTE(amplification_count, BARE),
    ATTRIBUTE(imageblock_data, BARE),
    ATTRIBUTE(payload, BARE),
    ATTRIBUTE(invariant, BARE),
};

const char *mtlc_attribute_name(size_t index) {
  return index < sizeof known_attributes / sizeof *known_attributes
             ? known_attributes[index].name
             : NULL;
}

static const attribute *find_attribute(const mtlc_token *name) {
  const size_t known_count = sizeof known_attributes / sizeof *known_attributes;
  for (size_t i = 0; name->kind == MTLC_TOKEN_WORD && i < known_count; i++) {
    if (has_text(name, known_attributes[i].name)) {
      return &known_attributes[i];
    }
  }
  return NULL;
}

// One element of an attribute list.
typedef struct element {
  const attribute *known;  // NULL if it is no attribute of Metal's
  bool is_gnu;             // from a keyword that is a macro: kernel
  size_t begin;            // of its tokens
  size_t end;
  size_t arguments;  // its (, or 0
} element;

// Finds the end of the element of a list at begin.
static size_t element_end(const rewriter *r, size_t begin, size_t end) {
  size_t i = begin;
  while (i < end && !is_mark(r, i, ",")) {
    const bool opens =
        is_mark(r, i, "(") || is_mark(r, i, "[") || is_mark(r, i, "{");
    const size_t behind = opens ? skip_group(r, i, end) : i + 1;
    i = behind == 0 ? end : behind;
  }
  return i;
}

// Anything that is not just a name and arguments is left to clang.
static element read_element(const rewriter *r, size_t begin, size_t end) {
  element e = {.begin = begin, .end = end};
  size_t word = 0;
  size_t behind_name = begin + 1;
  if (is_threadgroup_keyword(r, begin)) {
    const mtlc_token name = {"threadgroup", 11, MTLC_TOKEN_WORD};
    e.known = find_attribute(&name);
    behind_name = begin + THREADGROUP_KEYWORD_TOKENS;
  } else if (is_gnu_attribute(r, begin, &word)) {
    e.is_gnu = skip_group(r, begin + 1, end) == end &&
               skip_group(r, begin + 2, end) == end - 1;
    return e;
  } else {
    e.known = find_attribute(token_at(r, begin));
  }
  if (behind_name < end && is_mark(r, behind_name, "(")) {
    e.arguments = behind_name;
    behind_name = skip_group(r, behind_name, end);
  }
  if (behind_name != end) {
    e.known = NULL;
  }
  return e;
}

static void put_annotation(rewriter *r, const element *e) {
  const size_t origin = e->begin;
  put(r, origin, "annotate");
  put(r, origin, "(");
  const bool refers = e->known->form == FORM_CONSTANT &&
                      !(r->kind == SCOPE_NAMESPACE && r->depth == 0);
  put(r, origin, refers ? "\"mettle.enabled_by\"" : e->known->literal);
  if (e->arguments != 0 && e->known->form != FORM_BARE) {
    if (e->known->form != FORM_TEXT) {
      put(r, origin, ",");
    }
    if (refers) {
      put(r, origin, "&");
    }
    put_range(r, e->arguments + 1, e->end - 1);
  }
  put(r, origin, ")");
}

// Writes the elements between two positions that are Metal's, or those that
// are not.
static void put_elements(rewriter *r, size_t begin, size_t end, bool metal) {
  bool is_first = true;
  for (size_t i = begin; i < end;) {
    const size_t stop = element_end(r, i, end);
    const element e = read_element(r, i, stop);
    const bool is_metal = e.known != NULL || e.is_gnu;
    const bool is_dropped = e.known != NULL && e.known->form == FORM_NOTHING;
    if (i < stop && is_metal == metal && !is_dropped) {
      if (!is_first || metal) {
        put(r, i, is_first ? "__attribute__" : ",");
      }
      if (is_first && metal) {
        put(r, i, "(");
        put(r, i, "(");
      }
      is_first = false;
      if (e.known != NULL) {
        put_annotation(r, &e);
      } else if (e.is_gnu) {
        put_range(r, e.begin + 3, e.end - 2);
      } else {
        put_range(r, e.begin, e.end);
      }
    }
    i = stop + 1;
  }
  if (metal && !is_first) {
    put(r, begin, ")");
    put(r, begin, ")");
  }
}

// Finds the end of [[...]] at position; 0 if it is not closed.
size_t mtlc_attributes_end(const rewriter *r, size_t position) {
  const size_t end = skip_group(r, position, far_ahead(r, position));
  const bool closed = end >= position + 4 && is_mark(r, end - 1, "]") &&
                      is_mark(r, end - 2, "]") &&
                      skip_group(r, position + 1, end) == end - 1;
  return closed ? end : 0;
}

static bool has_foreign_element(const rewriter *r, size_t begin, size_t end) {
  for (size_t i = begin; i < end;) {
    const size_t stop = element_end(r, i, end);
    const element e = read_element(r, i, stop);
    if (i < stop && e.known == NULL && !e.is_gnu) {
      return true;
    }
    i = stop + 1;
  }
  return false;
}

// Writes Metal's attributes of a run of [[...]] [[...]].
static void put_metals(rewriter *r, size_t begin, size_t end) {
  for (size_t i = begin; i < end;) {
    const size_t behind = mtlc_attributes_end(r, i);
    put_elements(r, i + 2, behind - 2, true);
    i = behind;
  }
}

// Rewrites a run of [[...]] [[...]]: first clang's own attributes, since they
// may not follow a GNU attribute, then Metal's.
void mtlc_rewrite_attributes(rewriter *r) {
  const size_t begin = r->position;
  size_t end = begin;
  while (starts_attributes(r, end)) {
    const size_t behind = mtlc_attributes_end(r, end);
    if (behind == 0) {
      break;
    }
    if (has_foreign_element(r, end + 2, behind - 2)) {
      put_range(r, end, end + 2);
      put_elements(r, end + 2, behind - 2, false);
      put_range(r, behind - 2, behind);
    }
    end = behind;
  }
  if (end == begin) {  // not closed: clang says so
    put_range(r, begin, begin + 2);
    r->depth += 2;
    r->position = begin + 2;
    return;
  }
  // Metal's may stand between a name and an array's bounds, GNU's behind them.
  size_t behind_bounds = end;
  while (is_mark(r, behind_bounds, "[") &&
         !starts_attributes(r, behind_bounds)) {
    const size_t behind = skip_group(r, behind_bounds, r->count);
    if (behind == 0) {
      break;
    }
    behind_bounds = behind;
  }
  put_range(r, end, behind_bounds);
  r->position = behind_bounds;
  if (is_mark(r, end, "(") && r->depth == 0) {
    r->late_begin = begin;
    r->late_end = end;
    return;
  }
  put_metals(r, begin, end);
}

// A function's attributes may stand between its name and its parameters, GNU's
// behind all of the declarator. Writes those where the declarator ends.
void mtlc_put_late_attributes(rewriter *r) {
  if (r->late_end == 0 || r->depth != 0 ||
      !(is_mark(r, r->position, "{") || is_mark(r, r->position, ";") ||
        is_mark(r, r->position, "=") || is_mark(r, r->position, ":") ||
        is_mark(r, r->position, ","))) {
    return;
  }
  put_metals(r, r->late_begin, r->late_end);
  r->late_end = 0;
}
