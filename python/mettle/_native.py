# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_native.py: declares the functions of the C API to ctypes.

Each function is one line of TABLE, `name: arguments -> result`, in letters
(LETTERS). A function that returns a status raises it as an exception."""

from __future__ import annotations

import ctypes
import operator
import os
from ctypes import (c_bool, c_char_p, c_int, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p)
from typing import Any, Callable, Dict, Optional, Tuple

from ._loading import LAUNCH, LIBRARY
from ._structures import Allocation, Region, Size, Times
from .errors import BY_STATUS, MettleError


def _text(value: Optional[int]) -> str:
    raw = ctypes.string_at(value) if value else b""
    return raw.decode("utf-8", "replace")


def last_error() -> str:
    """The text of this thread's last failure."""
    return _text(_last_error())


def failure(status: int, text: str) -> MettleError:
    """The exception for a status."""
    return BY_STATUS.get(status, MettleError)(text.rstrip("\n"))


def _decode(value: Optional[bytes], _function: Any, _arguments: Any) -> str:
    return (value or b"").decode("utf-8", "replace")


def _check(status: int) -> None:
    if status:
        raise failure(status, last_error())


def _unsigned(kind: Any) -> Any:
    """The type of an argument that refuses what ctypes would cut."""
    most = (1 << 8 * ctypes.sizeof(kind)) - 1

    class Unsigned:
        """An integer argument."""

        @staticmethod
        def from_param(value: Any) -> Any:
            """The argument as ctypes has it."""
            number = operator.index(value)
            if not 0 <= number <= most:
                raise OverflowError(f"{number} is not within 0 to {most}")
            return kind(number)
    return Unsigned


# f out-pointer of any kind; p handle; S text; s status, raised; t result text
LETTERS: Dict[str, Any] = {
    "p": c_void_p, "f": c_void_p, "S": c_char_p, "i": c_int, "u": c_uint32,
    "U": c_uint64, "z": c_size_t, "b": c_bool, "B": c_uint8, "G": Size,
    "R": Region, "A": Allocation, "T": Times, "s": _check, "t": c_char_p,
    "v": None}

# For numbers that callers give; those of a launch are of our own making.
CHECKED = {**LETTERS, **{letter: _unsigned(LETTERS[letter])
                         for letter in "uUzB"}}

TABLE = """
mtl_version: -> t
mtl_device_list: f z f -> s
mtl_device_default: f -> s
mtl_device_by_name: S f -> s
mtl_device_release: p -> v
mtl_device_get_info: p -> p
mtl_device_supports_family: p i -> b
mtl_device_current_allocated_bytes: p -> U
mtl_buffer_create: p f f -> s
mtl_buffer_create_remote_view: p p f -> s
mtl_buffer_release: p -> v
mtl_buffer_contents: p -> p
mtl_buffer_length: p -> z
mtl_buffer_storage_mode: p -> i
mtl_buffer_gpu_address: p -> U
mtl_buffer_did_modify_range: p z z -> s
mtl_buffer_set_label: p S -> v
mtl_buffer_label: p -> t
mtl_buffer_retain: p -> p
mtl_texture_create: p f f -> s
mtl_texture_create_from_buffer: p f z z f -> s
mtl_texture_create_view: p f f -> s
mtl_texture_release: p -> v
mtl_texture_info: p -> p
mtl_texture_resource_id: p -> U
mtl_texture_replace_region: p R u u f z z -> s
mtl_texture_get_bytes: p R u u f z z -> s
mtl_texture_set_label: p S -> v
mtl_texture_label: p -> t
mtl_pixel_format_bytes: i -> z
mtl_sampler_create: p f f -> s
mtl_sampler_release: p -> v
mtl_sampler_label: p -> t
mtl_sampler_resource_id: p -> U
mtl_library_create_from_source: p f z f f -> s
mtl_library_create_from_data: p f z f -> s
mtl_library_create_from_file: p S f -> s
mtl_library_write: p S -> s
mtl_library_data: p f -> p
mtl_library_release: p -> v
mtl_library_warnings: p -> t
mtl_library_function_count: p -> z
mtl_library_function_name: p z -> t
mtl_library_function_is_visible: p z -> b
mtl_library_constants: p f -> p
mtl_library_function_constants: p S f f -> s
mtl_compiler_confinement: f -> s
mtl_constant_values_create: f -> s
mtl_constant_values_release: p -> v
mtl_constant_values_set: p u i u f -> s
mtl_constant_values_set_named: p S i u f -> s
mtl_function_create: p S p f -> s
mtl_function_release: p -> v
mtl_function_name: p -> t
mtl_function_is_visible: p -> b
mtl_function_arguments: p f -> p
mtl_pipeline_create: p f f -> s
mtl_pipeline_create_async: p f f p -> s
mtl_pipeline_retain: p -> p
mtl_pipeline_release: p -> v
mtl_pipeline_function_handle: p p f -> s
mtl_function_handle_release: p -> v
mtl_function_handle_name: p -> t
mtl_pipeline_max_total_threads_per_threadgroup: p -> u
mtl_pipeline_thread_execution_width: p -> u
mtl_pipeline_static_threadgroup_memory_bytes: p -> z
mtl_pipeline_arguments: p f -> p
mtl_pipeline_label: p -> t
mtl_pipeline_resource_id: p f -> s
mtl_pipeline_report: p -> t
mtl_pipeline_dump: p -> t
mtl_function_table_create: p f f -> s
mtl_function_table_release: p -> v
mtl_function_table_count: p -> u
mtl_function_table_set: p p u -> s
mtl_function_table_resource_id: p -> U
mtl_argument_encoder_create: p u f -> s
mtl_argument_encoder_create_nested: p u f -> s
mtl_argument_encoder_release: p -> v
mtl_argument_encoder_encoded_length: p -> z
mtl_argument_encoder_alignment: p -> z
mtl_argument_encoder_set_argument_buffer: p p z -> s
mtl_argument_encoder_set_buffer: p p z u -> s
mtl_argument_encoder_set_texture: p p u -> s
mtl_argument_encoder_set_sampler: p p u -> s
mtl_argument_encoder_set_function_table: p p u -> s
mtl_argument_encoder_constant_data: p u -> p
mtl_log_state_create: p f f -> s
mtl_log_state_release: p -> v
mtl_log_state_label: p -> t
mtl_log_state_add_handler: p f p -> s
mtl_log_state_dropped: p -> U
mtl_log_level_name: i -> t
mtl_queue_create: p f f -> s
mtl_queue_release: p -> v
mtl_queue_set_label: p S -> v
mtl_queue_label: p -> t
mtl_event_create: p f f -> s
mtl_event_release: p -> v
mtl_event_value: p f -> s
mtl_event_signal: p U -> s
mtl_event_wait: p U U -> s
mtl_event_notify: p U f p -> s
mtl_fence_create: p f -> s
mtl_fence_release: p -> v
mtl_command_buffer_create: p f f -> s
mtl_command_buffer_release: p -> v
mtl_command_buffer_retain: p -> p
mtl_command_buffer_enqueue: p -> s
mtl_command_buffer_commit: p -> s
mtl_command_buffer_cancel: p -> s
mtl_command_buffer_depend_on: p p -> s
mtl_command_buffer_wait: p -> i
mtl_command_buffer_wait_timeout: p U -> i
mtl_command_buffer_wait_scheduled: p -> s
mtl_command_buffer_get_status: p -> i
mtl_command_buffer_error: p f -> i
mtl_command_buffer_on_scheduled: p f p -> s
mtl_command_buffer_on_completed: p f p -> s
mtl_command_buffer_wait_event: p p U -> v
mtl_command_buffer_signal_event: p p U -> v
mtl_command_buffer_get_times: p -> T
mtl_command_buffer_set_label: p S -> v
mtl_command_buffer_label: p -> t
mtl_compute_encoder_create: p i f -> s
mtl_compute_encoder_release: p -> v
mtl_compute_encoder_end: p -> s
mtl_compute_encoder_set_pipeline: p p -> v
mtl_compute_encoder_set_buffer: p p z u -> v
mtl_compute_encoder_set_buffer_offset: p z u -> v
mtl_compute_encoder_set_bytes: p f z u -> v
mtl_compute_encoder_set_threadgroup_memory: p z u -> v
mtl_compute_encoder_set_texture: p p u -> v
mtl_compute_encoder_set_sampler: p p u -> v
mtl_compute_encoder_set_function_table: p p u -> v
mtl_compute_encoder_dispatch_threads: p G G -> v
mtl_compute_encoder_dispatch_threadgroups: p G G -> v
mtl_compute_encoder_dispatch_threadgroups_indirect: p p z G -> v
mtl_compute_encoder_memory_barrier: p i -> v
mtl_compute_encoder_memory_barrier_buffers: p f z -> v
mtl_compute_encoder_use_buffer: p p i -> v
mtl_compute_encoder_use_function_table: p p -> v
mtl_compute_encoder_use_texture: p p i -> v
mtl_compute_encoder_update_fence: p p -> v
mtl_compute_encoder_wait_fence: p p -> v
mtl_compute_encoder_push_debug_group: p S -> v
mtl_compute_encoder_pop_debug_group: p -> v
mtl_blit_encoder_create: p f -> s
mtl_blit_encoder_release: p -> v
mtl_blit_encoder_end: p -> s
mtl_blit_encoder_copy: p p z p z z -> v
mtl_blit_encoder_fill: p p z z B -> v
mtl_blit_encoder_synchronize: p p -> v
mtl_blit_encoder_synchronize_texture: p p -> v
mtl_blit_encoder_copy_buffer_to_texture: p p z z z p R u u -> v
mtl_blit_encoder_copy_texture_to_buffer: p p R u u p z z z -> v
mtl_blit_encoder_copy_texture: p p R u u p R u u -> v
mtl_blit_encoder_generate_mipmaps: p p -> v
mtl_blit_encoder_update_fence: p p -> v
mtl_blit_encoder_wait_fence: p p -> v
mtl_compute_encoder_use_heap: p p -> v
mtl_compute_encoder_set_tensor: p p u -> v
mtl_compute_encoder_execute_commands: p p u u -> v
mtl_compute_encoder_execute_commands_indirect: p p p z -> v
mtl_compute_encoder_use_commands: p p i -> v
mtl_compute_encoder_sample_counters: p p u b -> v
mtl_blit_encoder_sample_counters: p p u b -> v
mtl_blit_encoder_resolve_counters: p p u u p z -> v
mtl_blit_encoder_copy_commands: p p u p u u -> v
mtl_blit_encoder_reset_commands: p p u u -> v
mtl_heap_create: p f f -> s
mtl_heap_release: p -> v
mtl_heap_length: p -> z
mtl_heap_storage_mode: p -> i
mtl_heap_label: p -> t
mtl_heap_used_bytes: p -> z
mtl_heap_max_available_bytes: p z -> z
mtl_heap_create_buffer: p f z f -> s
mtl_heap_create_texture: p f z f -> s
mtl_device_heap_buffer_size_and_align: p z f -> s
mtl_buffer_make_aliasable: p -> s
mtl_buffer_set_purgeable_state: p i f -> s
mtl_residency_set_create: p f f -> s
mtl_residency_set_release: p -> v
mtl_residency_set_add: p f z -> s
mtl_residency_set_remove: p f z -> s
mtl_residency_set_commit: p -> s
mtl_residency_set_request: p -> v
mtl_residency_set_end: p -> v
mtl_residency_set_count: p -> z
mtl_residency_set_contains: p A -> b
mtl_residency_set_allocated_bytes: p -> U
mtl_queue_add_residency_sets: p f z -> s
mtl_queue_remove_residency_sets: p f z -> s
mtl_command_buffer_use_residency_sets: p f z -> v
mtl_indirect_command_buffer_create: p f f -> s
mtl_indirect_command_buffer_release: p -> v
mtl_indirect_command_buffer_size: p -> u
mtl_indirect_command_buffer_resource_id: p f -> s
mtl_indirect_command_buffer_set_pipeline: p u p -> s
mtl_indirect_command_buffer_set_buffer: p u p z u -> s
mtl_indirect_command_buffer_set_threadgroup_memory: p u z u -> s
mtl_indirect_command_buffer_set_barrier: p u b -> s
mtl_indirect_command_buffer_dispatch_threads: p u G G -> s
mtl_indirect_command_buffer_dispatch_threadgroups: p u G G -> s
mtl_indirect_command_buffer_reset: p u u -> s
mtl_device_sample_timestamps: p f f -> s
mtl_counter_sample_buffer_create: p f f -> s
mtl_counter_sample_buffer_release: p -> v
mtl_counter_sample_buffer_count: p -> u
mtl_counter_sample_buffer_resolve: p u u f -> s
mtl_command_buffer_work_times: p f -> p
mtl_buffer_tensor_create: p f f -> s
mtl_buffer_tensor_release: p -> v
mtl_buffer_tensor_info: p -> p
mtl_binary_archive_create: p f f -> s
mtl_binary_archive_release: p -> v
mtl_binary_archive_add: p p f -> s
mtl_binary_archive_count: p -> z
mtl_binary_archive_write: p S -> s
mtl_check_report: f p -> s
mtl_check_counts: f f f f -> v
"""
LAUNCH_TABLE = """
mettle_launch: p p f u f u p U i f -> i
mettle_wrap_memory: p U U f f -> s
mettle_watch_interrupts: i -> v
"""
AOTI_TABLE = """
mtl_stream_current: f -> s
mtl_stream_synchronize: p i -> s
mtl_model_load: S f f -> s
mtl_model_release: p -> v
mtl_model_run: p p f z f -> s
mtl_model_result_get: p z f -> s
mtl_model_result_count: p -> z
mtl_model_result_release: p -> v
mtl_model_input_count: p -> z
mtl_model_output_count: p -> z
mtl_model_constant_count: p -> z
mtl_model_kernel_count: p -> z
mtl_model_input_name: p z -> t
mtl_model_output_name: p z -> t
mtl_model_get_constant: p z f -> s
mtl_model_kernel_source: p z -> t
mtl_model_update_constants: p f f z b -> s
mtl_model_swap_constants: p -> s
"""


class Functions:
    """The functions of one library as attributes."""

    def __init__(self, library: ctypes.CDLL, table: str,
                 letters: Dict[str, Any]) -> None:
        for line in table.strip().split("\n"):
            name, _, types = line.partition(":")
            arguments, _, result = types.partition("->")
            function = getattr(library, name)
            function.argtypes = [letters[letter]
                                 for letter in arguments.split()]
            function.restype = LETTERS[result.strip()]
            if result.strip() == "t":
                function.errcheck = _decode
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(name)  # for type checkers: all are callable


_last_error = LIBRARY.mtl_last_error
_last_error.restype = c_void_p
_last_error.argtypes = []
mtl = Functions(LIBRARY, TABLE, CHECKED)
launch = Functions(LAUNCH, LAUNCH_TABLE, LETTERS)


def encode(text: Optional[str]) -> Optional[bytes]:
    """UTF-8 for a C string; None stays None."""
    return None if text is None else os.fsencode(text)


def make(function: Callable[..., Any], *arguments: Any) -> int:
    """Calls a function whose last argument is where a handle goes."""
    made = c_void_p()
    function(*arguments, ctypes.byref(made))
    assert made.value is not None
    return made.value


def integers(values: Any, wanted: str) -> Tuple[int, ...]:
    """One integer, or several, as a tuple. wanted is how the error begins."""
    try:
        return tuple(map(operator.index, values)) if hasattr(
            values, "__iter__") else (operator.index(values),)
    except TypeError:
        raise TypeError(f"{wanted}, not {values!r}") from None


def triple(sizes: Any, what: str) -> Tuple[int, int, int]:
    """(x, y, z) of an int or of up to three."""
    values = integers(sizes, f"{what} is an integer or up to three")
    if not 1 <= len(values) <= 3:
        raise BY_STATUS[1](f"{what} has {len(values)} sides, 1 to 3 are "
                           "possible")
    if any(not 0 <= value < 1 << 32 for value in values):
        raise BY_STATUS[1](f"{what} {values}: sides are 0 to 2**32 - 1")
    return (values + (1, 1))[:3]  # type: ignore[return-value]


def size_of(sides: Any, what: str) -> Size:
    """mtl_size of an int or of up to three."""
    return Size(*triple(sides, what))
