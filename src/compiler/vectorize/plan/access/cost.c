// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cost.c: the cost of an access form, by the target's figures.
#include "compiler/vectorize/plan/access/cost.h"

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/target/machine.h"

// Returns how many registers hold that many bytes.
static uint32_t registers(const lanes_planning *p, uint64_t bytes) {
  const uint32_t each = p->machine.vector_bytes;
  return (uint32_t)((bytes + each - 1) / each);
}

static uint32_t check_cost(const lanes_planning *p, lanes_access_check check) {
  const lanes_costs *costs = &p->machine.costs;
  const uint32_t words = registers(p, p->values->lanes * sizeof(uint32_t));
  switch (check) {
    case LANES_CHECK_ADJACENT:
    case LANES_CHECK_EQUAL: return words * 2 + costs->branch;
    case LANES_CHECK_IN_WINDOW: return words * 8 + costs->branch;
    default: return costs->branch;
  }
}

uint32_t lanes_access_cost(const lanes_planning *p, const lanes_access *a,
                           const lanes_choice *c) {
  const lanes_costs *costs = &p->machine.costs;
  const uint64_t bytes = a->count * a->size_bytes;
  const uint32_t elements = a->count * p->values->lanes;
  const uint32_t vectors =
      registers(p, bytes * p->values->lanes) * costs->access;
  const uint32_t shuffles =
      registers(p, bytes * p->values->lanes) * costs->shuffle;
  if (c->check) {
    return check_cost(p, c->check) + c->then->cost;
  }
  switch (c->form) {
    case LANES_NO_FORM:
    case LANES_LOADED_AHEAD: return 0;
    case LANES_UNIFORM: return costs->access;
    case LANES_SEGMENT_FIRSTS:
      return p->values->lanes / a->shape.row * costs->access;
    case LANES_PRIVATE_VECTOR:
    case LANES_CONTIGUOUS:
    case LANES_PACKED: return vectors;
    case LANES_SEGMENT_VECTORS:
      return p->values->lanes / a->shape.row * costs->access + shuffles;
    case LANES_INTERLEAVED:
    case LANES_STRIDED_SEGMENTS:
    case LANES_INTERLEAVE_GROUP:
    case LANES_WORDS:
      return registers(p, c->stride * a->size_bytes * p->values->lanes) *
             (costs->access + 2 * costs->shuffle);
    case LANES_LANE_VECTORS:
    case LANES_STORE_GROUP:
      return p->values->lanes * (c->vectors->bytes + 15) / 16 *
             (costs->access + costs->shuffle);
    case LANES_BIT_PERMUTED:
      return (uint32_t)(p->values->lanes / c->runs->lanes) * costs->access +
             shuffles;
    case LANES_TABLE: return 2 * costs->access + shuffles;
    case LANES_WINDOW: return 2 * (vectors + shuffles);
    case LANES_BROADCAST: return costs->access + costs->shuffle;
    case LANES_ROW_COPY:
      return p->values->lanes * registers(p, bytes) * costs->access;
    case LANES_REVERSED: return c->then->cost + shuffles;
    case LANES_SPLIT_AT_WRAP: return 2 * c->then->cost + shuffles;
    case LANES_EACH: return elements * (costs->access + costs->shuffle);
    case LANES_GATHER:
    case LANES_PRIVATE_GATHER: return elements * costs->gather;
    case LANES_SCATTER:
    case LANES_SCATTER_VECTORS:
    case LANES_IN_LINE: return elements * costs->scatter;
    case LANES_SCALARISED:
    case LANES_LANE_LOOP: return elements * (costs->branch + costs->access);
    case LANES_FORMS: break;
  }
  return 0;
}
