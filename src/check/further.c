// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// further.c: stores the accesses of a word that nothing orders, beside the two
// that its cell names: of a third dispatch, or of more. Most words have none.
#include <stdlib.h>
#include <sys/mman.h>

#include "check/state.h"

// A node of a word's list; node 0 ends it.
struct check_further_node {
  uint32_t next;
  check_further access;
};

enum {
  FIRST_ROOM = 1 << 10,
  MOST = 14,  // of a word; the earliest one makes room
};

static uint64_t heads_bytes(const check_memory *memory) {
  return (memory->bytes / 4 + 2) * sizeof(uint32_t);
}

static bool make_heads(check_memory *memory) {
  if (!memory->further) {
    void *heads = mmap(NULL, heads_bytes(memory), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory->further = heads == MAP_FAILED ? NULL : heads;
  }
  return memory->further != NULL;
}

// Returns the number of an unused node; 0 if there is no memory for it.
static uint32_t take_node(check_memory *memory) {
  const uint32_t unused = memory->unused_node;
  if (unused) {
    memory->unused_node = memory->nodes[unused].next;
    return unused;
  }
  if (memory->node_count == memory->node_room) {
    const uint32_t room =
        memory->node_room ? 2 * memory->node_room : FIRST_ROOM;
    check_further_node *grown =
        room ? realloc(memory->nodes, room * sizeof *grown) : NULL;
    if (!grown) {
      return 0;
    }
    memory->nodes = grown;
    memory->node_room = room;
    memory->node_count = memory->node_count ? memory->node_count : 1;
  }
  return memory->node_count++;
}

// Returns the earliest of a word's accesses if there are as many as there may
// be, else NULL.
static check_further *earliest(check_memory *memory, uint64_t word) {
  check_further *least = NULL;
  uint32_t count = 0;
  for (uint32_t i = memory->further[word]; i; i = memory->nodes[i].next) {
    check_further *it = &memory->nodes[i].access;
    least = !least || it->segment < least->segment ? it : least;
    ++count;
  }
  return count >= MOST ? least : NULL;
}

void check_further_add(check_memory *memory, uint64_t word,
                       check_further access) {
  check_further *place = make_heads(memory) ? earliest(memory, word) : NULL;
  if (place) {
    *place = access;
    return;
  }
  const uint32_t node = memory->further ? take_node(memory) : 0;
  if (!node) {
    mtli_check_note_unchecked("no memory for the readers of a buffer");
    return;
  }
  memory->nodes[node] =
      (check_further_node){.next = memory->further[word], .access = access};
  memory->further[word] = node;
}

void check_further_keep(check_memory *memory, uint64_t word,
                        check_further_test *is_kept, void *context) {
  if (!memory || !memory->further) {
    return;
  }
  uint32_t *link = &memory->further[word];
  while (*link) {
    check_further_node *node = &memory->nodes[*link];
    if (is_kept(context, &node->access)) {
      link = &node->next;
      continue;
    }
    const uint32_t unused = *link;
    *link = node->next;
    node->next = memory->unused_node;
    memory->unused_node = unused;
  }
}

void check_further_drop(check_memory *memory) {
  if (memory->further) {
    munmap(memory->further, heads_bytes(memory));
  }
  free(memory->nodes);
  memory->further = NULL;
  memory->nodes = NULL;
  memory->node_count = memory->node_room = memory->unused_node = 0;
}
