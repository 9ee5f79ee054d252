// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hazard_tracking.c: which touches of buffers conflict.
#include "harness/test.h"
#include "runtime/record/hazards.h"

TEST(hazards, reads_go_beside_reads) {
  static mtl_buffer buffer;
  static mtli_hazards hazards;
  CHECK(mtli_hazards_add(&hazards, &buffer, false));
  CHECK(!mtli_hazards_conflict(&hazards, &buffer, false));
}

TEST(hazards, a_write_conflicts_with_either) {
  static mtl_buffer read;
  static mtl_buffer written;
  static mtli_hazards hazards;
  CHECK(mtli_hazards_add(&hazards, &read, false));
  CHECK(mtli_hazards_add(&hazards, &written, true));
  CHECK(mtli_hazards_conflict(&hazards, &read, true));
  CHECK(mtli_hazards_conflict(&hazards, &written, false));
  CHECK(mtli_hazards_conflict(&hazards, &written, true));
}

TEST(hazards, a_write_is_remembered_behind_a_read) {
  static mtl_buffer buffer;
  static mtli_hazards hazards;
  CHECK(mtli_hazards_add(&hazards, &buffer, true));
  CHECK(mtli_hazards_add(&hazards, &buffer, false));
  CHECK(mtli_hazards_conflict(&hazards, &buffer, false));
}

TEST(hazards, untracked_buffers_never_conflict) {
  static mtl_buffer buffer = {.hazard_tracking = MTL_HAZARD_UNTRACKED};
  static mtli_hazards hazards;
  CHECK(mtli_hazards_add(&hazards, &buffer, true));
  CHECK(!mtli_hazards_conflict(&hazards, &buffer, true));
}

TEST(hazards, other_buffers_do_not_conflict) {
  static mtl_buffer buffers[MTLI_HAZARD_SLOTS];
  static mtli_hazards hazards;
  for (int i = 0; i < MTLI_HAZARD_SLOTS - 1; i++) {
    CHECK(!mtli_hazards_conflict(&hazards, &buffers[i], true));
    CHECK(mtli_hazards_add(&hazards, &buffers[i], true));
  }
  CHECK(
      !mtli_hazards_conflict(&hazards, &buffers[MTLI_HAZARD_SLOTS - 1], true));
}

TEST(hazards, a_full_set_says_so_and_can_be_cleared) {
  static mtl_buffer buffers[MTLI_HAZARD_SLOTS];
  static mtli_hazards hazards;
  for (int i = 0; i < MTLI_HAZARD_SLOTS - 1; i++) {
    CHECK(mtli_hazards_add(&hazards, &buffers[i], true));
  }
  CHECK(!mtli_hazards_add(&hazards, &buffers[MTLI_HAZARD_SLOTS - 1], true));
  mtli_hazards_clear(&hazards);
  CHECK(!mtli_hazards_conflict(&hazards, &buffers[0], true));
  CHECK(mtli_hazards_add(&hazards, &buffers[MTLI_HAZARD_SLOTS - 1], true));
}
