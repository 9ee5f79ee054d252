// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binding_parts.h: shared by binding.c and binding_resolve.c.
#ifndef METTLE_CLI_BINDING_PARTS_H
#define METTLE_CLI_BINDING_PARTS_H

#include "cli/bind/binding.h"

bool binding_find_fill(const char *word, size_t length, binding_fill *out_fill);
// Returns the fill that a mistyped word was to be, or NULL.
const char *binding_near_fill(const char *word, size_t length);

// Reads COUNT[:SEED]; the seed goes to binding.
bool binding_parse_count(const char *word, kernel_binding *binding,
                         uint64_t *out_count, cli_error *error);

// Reads @FILE, FILL:TYPE:COUNT[:SEED] and TYPE:V,..., which say their types
// themselves; *out_is_typed is false, and binding OPEN, for anything else.
bool binding_parse_typed(const char *word, kernel_binding *binding,
                         bool *out_is_typed, cli_error *error);

// Reads the text behind = for an argument of a table.
bool binding_parse_resource(const char *rest, mtl_argument_kind table,
                            kernel_binding *binding, cli_error *error);

// 64 random bits for an element.
uint64_t binding_random_bits(uint64_t seed, uint64_t index);

// Puts the word before an error's text.
bool binding_fail(const kernel_binding *binding, const cli_error *inner,
                  cli_error *error);

#endif
