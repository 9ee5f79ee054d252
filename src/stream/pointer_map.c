// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_map.c: finds the buffer that contains an address: a treap ordered by
// first address, with hashes as priorities, under a readers-writer lock.
#include <stdlib.h>

#include "stream/stream_parts.h"

typedef struct node {
  struct node *left, *right;
  uintptr_t base;
  size_t length_bytes;
  uint64_t priority;
  mtl_buffer *buffer;  // +1
  bool is_pooled;
} node;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static node *root;

// Mixes an address. Source: splitmix64's finaliser, public domain (Vigna).
static uint64_t priority_of(uintptr_t base) {
  uint64_t value = base + 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Splits tree into the nodes that start before key and the rest.
static void split(node *tree, uintptr_t key, node **out_before,
                  node **out_rest) {
  while (tree) {
    if (tree->base < key) {
      *out_before = tree;
      out_before = &tree->right;
      tree = tree->right;
    } else {
      *out_rest = tree;
      out_rest = &tree->left;
      tree = tree->left;
    }
  }
  *out_before = NULL;
  *out_rest = NULL;
}

// Joins two trees, all of left before all of right.
static node *join(node *left, node *right) {
  node *result = NULL;
  node **place = &result;
  while (left && right) {
    if (left->priority > right->priority) {
      *place = left;
      place = &left->right;
      left = left->right;
    } else {
      *place = right;
      place = &right->left;
      right = right->left;
    }
  }
  *place = left ? left : right;
  return result;
}

// Returns the last node that starts at or before address.
static node *floor_of(uintptr_t address) {
  node *best = NULL;
  for (node *at = root; at;) {
    if (at->base <= address) {
      best = at;
      at = at->right;
    } else {
      at = at->left;
    }
  }
  return best;
}

static void insert(node *added) {
  node **place = &root;
  while (*place && (*place)->priority > added->priority) {
    place = added->base < (*place)->base ? &(*place)->left : &(*place)->right;
  }
  split(*place, added->base, &added->left, &added->right);
  *place = added;
}

bool pointer_map_insert(mtl_buffer *buffer, bool is_pooled) {
  node *added = malloc(sizeof *added);
  const uintptr_t base = (uintptr_t)mtl_buffer_contents(buffer);
  if (!added || base == 0) {
    free(added);
    return false;
  }
  *added = (node){.base = base,
                  .length_bytes = mtl_buffer_length(buffer),
                  .priority = priority_of(base),
                  .buffer = buffer,
                  .is_pooled = is_pooled};
  pthread_rwlock_wrlock(&lock);
  const node *before = floor_of(base + added->length_bytes - 1);
  const bool is_free = !before || before->base + before->length_bytes <= base;
  if (is_free) {
    mtl_buffer_retain(buffer);  // +1
    insert(added);
  }
  pthread_rwlock_unlock(&lock);
  if (!is_free) {
    free(added);
  }
  return is_free;
}

mtl_buffer *pointer_map_remove(const void *base, bool is_pooled) {
  const uintptr_t key = (uintptr_t)base;
  pthread_rwlock_wrlock(&lock);
  node **place = &root;
  while (*place && (*place)->base != key) {
    place = key < (*place)->base ? &(*place)->left : &(*place)->right;
  }
  node *found = *place && (*place)->is_pooled == is_pooled ? *place : NULL;
  if (found) {
    *place = join(found->left, found->right);
  }
  pthread_rwlock_unlock(&lock);
  mtl_buffer *buffer = found ? found->buffer : NULL;
  free(found);
  return buffer;
}

mtl_buffer *pointer_map_find(const void *address, size_t *out_offset_bytes) {
  const uintptr_t key = (uintptr_t)address;
  mtl_buffer *buffer = NULL;
  pthread_rwlock_rdlock(&lock);
  const node *found = floor_of(key);
  if (found && key - found->base < found->length_bytes) {
    buffer = mtl_buffer_retain(found->buffer);  // +1
    *out_offset_bytes = key - found->base;
  }
  pthread_rwlock_unlock(&lock);
  return buffer;
}
