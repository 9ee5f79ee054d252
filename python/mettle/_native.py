# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_native.py: finds the libraries and declares the C API to ctypes.

Each function is one line of TABLE, `name: arguments -> result`, in letters
(LETTERS). A function that returns a status raises it as an exception."""

from __future__ import annotations

import ctypes
import os
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_float, c_int,
                    c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)
from typing import (Any, Callable, Dict, List, Optional, Sequence,
                    Tuple)

from .errors import BY_STATUS, MettleError

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_RANK = 16  # MTL_TENSOR_MAX_RANK


# --- Where the libraries are -------------------------------------------------

def _folders() -> List[str]:
    """The wheel's own or what `make install` put there; a build that is asked
    for; the build of a checkout."""
    folders = [os.path.join(HERE, "_lib")]
    build = os.environ.get("METTLE_BUILD_DIR")
    if build:
        folders.append(build)
    folders.append(os.path.join(os.path.dirname(os.path.dirname(HERE)),
                                "build"))
    return folders


def _path(name: str) -> str:
    for folder in _folders():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return os.path.realpath(path)
    return name  # the linker's search


def _open_folder() -> str:
    """The folder of the libmettle that this process has open, or ""."""
    with open("/proc/self/maps", encoding="utf-8",
              errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(None, 5)[-1]
            if os.path.basename(path).startswith("libmettle.so."):
                return os.path.dirname(path)
    return ""


def load(name: str) -> ctypes.CDLL:
    """Opens one of Mettle's libraries."""
    path = _path(name)
    if path == name:  # installed: beside the one that is open already
        path = os.path.join(_open_folder(), name)
    try:
        return ctypes.CDLL(path if os.path.exists(path) else name)
    except OSError as error:
        raise ImportError(f"{name} cannot be opened: {error}. A wheel has it "
                          "inside; for a build, set METTLE_BUILD_DIR.") \
            from error


def folder() -> str:
    """The folder of libmettle, the compiler and the command."""
    return os.path.dirname(_path("libmettle.so.0"))


# First what knows where the other one is installed.
LAUNCH = load("libmettle-python.so")
LIBRARY = load("libmettle.so.0")


# --- How structures lie in memory ---------------------------------------------

class _Layout(Structure):  # mettle_layout
    _fields_ = [("type", c_char_p), ("field", c_char_p),
                ("offset_bytes", c_uint32), ("size_bytes", c_uint32)]


def _read_layouts() -> Dict[Tuple[str, str], Tuple[int, int]]:
    """{(type, field): (offset, size)}, the whole type's field being ""."""
    count = c_size_t()
    function = LAUNCH.mettle_layouts
    function.restype = POINTER(_Layout)
    table = function(ctypes.byref(count))
    return {(one.type.decode(), one.field.decode()):
            (one.offset_bytes, one.size_bytes)
            for one in (table[i] for i in range(count.value))}


_layouts = _read_layouts()


def laid_out(name: str, fields: Sequence[Tuple[str, Any]]) -> \
        List[Tuple[str, Any]]:
    """The fields as the headers have them that native/layouts.c was compiled
    with: those that are not named here are gaps, of zeros."""
    result: List[Tuple[str, Any]] = []
    end = 0
    for field, kind in fields:
        offset, size = _layouts[name, field]
        if size != ctypes.sizeof(kind):
            raise ImportError(f"{name}.{field} has {size} bytes in the "
                              f"library, {ctypes.sizeof(kind)} here")
        aligned = -(-end // ctypes.alignment(kind)) * ctypes.alignment(kind)
        if offset > aligned:
            result.append((f"_gap_{end}", c_uint8 * (offset - end)))
        elif offset < aligned:
            raise ImportError(f"{name}.{field} is at {offset} in the library")
        result.append((field, kind))
        end = offset + size
    total = _layouts[name, ""][1]
    if total > end:
        result.append(("_rest", c_uint8 * (total - end)))
    return result


# --- Structures --------------------------------------------------------------

class Size(Structure):  # mtl_size
    _fields_ = laid_out("mtl_size", [
        ("x", c_uint32), ("y", c_uint32), ("z", c_uint32)])


class Region(Structure):  # mtl_region
    _fields_ = laid_out("mtl_region", [
        (name, c_uint32) for name in
        ("x", "y", "z", "width", "height", "depth")])


class DeviceInfo(Structure):  # mtl_device_info
    _fields_ = laid_out("mtl_device_info", [
        ("name", c_char_p), ("architecture", c_char_p),
        ("registry_id", c_uint64), ("thread_execution_width", c_uint32),
        ("max_threads_per_threadgroup", c_uint32),
        ("max_threadgroup_threads", c_uint32 * 3),
        ("max_threadgroup_memory_bytes", c_uint64),
        ("max_buffer_bytes", c_uint64),
        ("recommended_max_working_set_bytes", c_uint64),
        ("buffer_offset_alignment_bytes", c_uint64),
        ("compute_units", c_uint32), ("has_unified_memory", c_bool),
        ("runs_host_work", c_bool), ("timestamp_frequency_hz", c_uint64)])


class BufferDesc(Structure):  # mtl_buffer_desc
    _fields_ = laid_out("mtl_buffer_desc", [
        ("length_bytes", c_size_t), ("storage_mode", c_int),
        ("hazard_tracking", c_int), ("bytes", c_void_p),
        ("no_copy_bytes", c_void_p), ("deallocator", c_void_p),
        ("deallocator_context", c_void_p), ("guarded", c_bool),
        ("label", c_char_p)])


class QueueDesc(Structure):  # mtl_queue_desc
    _fields_ = laid_out("mtl_queue_desc", [
        ("max_command_buffers", c_uint32), ("label", c_char_p),
        ("log_state", c_void_p), ("time_limit_ns", c_uint64)])


class CommandBufferDesc(Structure):  # mtl_command_buffer_desc
    _fields_ = laid_out("mtl_command_buffer_desc", [
        ("unretained_references", c_bool), ("label", c_char_p),
        ("log_state", c_void_p), ("time_limit_ns", c_uint64),
        ("times_work", c_bool)])


class Times(Structure):  # mtl_command_buffer_times
    _fields_ = laid_out("mtl_command_buffer_times", [
        (name, c_uint64) for name in
        ("kernel_start_ns", "kernel_end_ns", "device_start_ns",
         "device_end_ns")])


class EventDesc(Structure):  # mtl_event_desc
    _fields_ = laid_out("mtl_event_desc", [
        ("shared", c_bool), ("initial_value", c_uint64), ("label", c_char_p)])


class Macro(Structure):  # mtl_macro
    _fields_ = laid_out("mtl_macro", [
        ("name", c_char_p), ("value", c_char_p)])


# bool (context, name, out_text, out_length)
HeaderCallback = ctypes.CFUNCTYPE(c_bool, c_void_p, c_char_p,
                                  POINTER(c_void_p), POINTER(c_size_t))


class CompileOptions(Structure):  # mtl_compile_options
    _fields_ = laid_out("mtl_compile_options", [
        ("language_version", c_int), ("math_mode", c_int),
        ("macros", POINTER(Macro)), ("macro_count", c_size_t),
        ("include_paths", POINTER(c_char_p)),
        ("include_path_count", c_size_t), ("header_callback", HeaderCallback),
        ("header_context", c_void_p), ("file_name", c_char_p),
        ("debug", c_bool), ("permissive", c_bool)])


class ConstantInfo(Structure):  # mtl_constant_info
    _fields_ = laid_out("mtl_constant_info", [
        ("name", c_char_p), ("index", c_uint32), ("type", c_int),
        ("components", c_uint32), ("required", c_bool)])


class MemberInfo(Structure):  # mtl_member
    pass


MemberInfo._fields_ = laid_out("mtl_member", [
    ("name", c_char_p), ("type_name", c_char_p), ("type", c_int),
    ("components", c_uint32), ("columns", c_uint32),
    ("offset_bytes", c_uint32), ("size_bytes", c_uint32),
    ("array_length", c_uint32), ("members", POINTER(MemberInfo)),
    ("member_count", c_uint32)])


class ArgumentInfo(Structure):  # mtl_argument
    _fields_ = laid_out("mtl_argument", [
        ("name", c_char_p), ("kind", c_int), ("index", c_uint32),
        ("access", c_int), ("type_name", c_char_p), ("type", c_int),
        ("components", c_uint32), ("size_bytes", c_uint32),
        ("alignment_bytes", c_uint32), ("is_reference", c_bool),
        ("is_active", c_bool), ("array_length", c_uint32),
        ("texture_type", c_int), ("is_depth_texture", c_bool),
        ("members", POINTER(MemberInfo)), ("member_count", c_uint32),
        ("tensor_rank", c_uint32), ("tensor_extents", POINTER(c_int64))])


class LinkedFunctions(Structure):  # mtl_linked_functions
    _fields_ = laid_out("mtl_linked_functions", [
        ("functions", POINTER(c_void_p)), ("function_count", c_size_t),
        ("private_functions", POINTER(c_void_p)),
        ("private_function_count", c_size_t)])


class PipelineDesc(Structure):  # mtl_pipeline_desc
    _fields_ = laid_out("mtl_pipeline_desc", [
        ("max_total_threads_per_threadgroup", c_uint32), ("label", c_char_p),
        ("group_threads", c_uint32 * 3),
        ("linked_functions", LinkedFunctions),
        ("max_call_stack_depth", c_uint32), ("debug", c_bool),
        ("dump_after", c_char_p), ("archives", POINTER(c_void_p)),
        ("archive_count", c_size_t), ("fail_on_archive_miss", c_bool),
        ("check", c_uint32),
        ("report_code", c_bool)])


class CheckPlace(Structure):  # mtl_check_place
    _fields_ = laid_out("mtl_check_place", [
        ("file", c_char_p), ("line", c_uint32), ("column", c_uint32),
        ("inlined", c_char_p), ("does", c_char_p), ("variable", c_char_p),
        ("kernel", c_char_p), ("has_thread", c_bool), ("thread", c_uint32),
        ("group", c_uint32 * 3), ("dispatch", c_uint32)])


class CheckFinding(Structure):  # mtl_check_finding
    _fields_ = laid_out("mtl_check_finding", [
        ("kind", c_char_p), ("text", c_char_p), ("first", CheckPlace),
        ("second", CheckPlace), ("count", c_uint64), ("schedule", c_char_p)])


CheckHandler = ctypes.CFUNCTYPE(None, c_void_p, POINTER(CheckFinding))


class FunctionTableDesc(Structure):  # mtl_function_table_desc
    _fields_ = laid_out("mtl_function_table_desc", [
        ("function_count", c_uint32)])


class TextureDesc(Structure):  # mtl_texture_desc
    _fields_ = laid_out("mtl_texture_desc", [
        ("type", c_int), ("pixel_format", c_int), ("width", c_uint32),
        ("height", c_uint32), ("depth", c_uint32), ("level_count", c_uint32),
        ("array_length", c_uint32), ("sample_count", c_uint32),
        ("storage_mode", c_int), ("hazard_tracking", c_int),
        ("usage", c_uint32), ("label", c_char_p)])


class TextureViewDesc(Structure):  # mtl_texture_view_desc
    _fields_ = laid_out("mtl_texture_view_desc", [
        ("type", c_int), ("pixel_format", c_int), ("first_level", c_uint32),
        ("level_count", c_uint32), ("first_slice", c_uint32),
        ("slice_count", c_uint32), ("swizzle", c_int * 4)])


class SamplerDesc(Structure):  # mtl_sampler_desc
    _fields_ = laid_out("mtl_sampler_desc", [
        ("min_filter", c_int), ("mag_filter", c_int), ("mip_filter", c_int),
        ("s_address", c_int), ("t_address", c_int), ("r_address", c_int),
        ("max_anisotropy", c_uint32), ("is_pixel_coordinates", c_bool),
        ("lod_min_clamp", c_float), ("lod_max_clamp", c_float),
        ("compare_function", c_int), ("border_color", c_int),
        ("label", c_char_p)])


class HeapDesc(Structure):  # mtl_heap_desc
    _fields_ = laid_out("mtl_heap_desc", [
        ("length_bytes", c_size_t), ("type", c_int), ("storage_mode", c_int),
        ("tracks_hazards", c_bool), ("label", c_char_p)])


class SizeAndAlign(Structure):  # mtl_size_and_align
    _fields_ = laid_out("mtl_size_and_align", [
        ("size_bytes", c_size_t), ("align_bytes", c_size_t)])


class Allocation(Structure):  # mtl_allocation
    _fields_ = laid_out("mtl_allocation", [
        ("buffer", c_void_p), ("texture", c_void_p), ("heap", c_void_p)])


class ResidencySetDesc(Structure):  # mtl_residency_set_desc
    _fields_ = laid_out("mtl_residency_set_desc", [
        ("initial_capacity", c_size_t), ("label", c_char_p)])


class IndirectDesc(Structure):  # mtl_indirect_command_buffer_desc
    _fields_ = laid_out("mtl_indirect_command_buffer_desc", [
        ("max_commands", c_uint32), ("command_types", c_uint32),
        ("max_buffers", c_uint32), ("max_threadgroup_memory", c_uint32),
        ("inherit_buffers", c_bool), ("inherit_pipeline", c_bool),
        ("label", c_char_p)])


class CounterDesc(Structure):  # mtl_counter_sample_buffer_desc
    _fields_ = laid_out("mtl_counter_sample_buffer_desc", [
        ("sample_count", c_uint32), ("storage_mode", c_int),
        ("label", c_char_p)])


class WorkTime(Structure):  # mtl_work_time
    _fields_ = laid_out("mtl_work_time", [
        ("kind", c_int), ("encoder", c_uint32), ("name", c_char_p),
        ("debug_group", c_char_p), ("start_ns", c_uint64),
        ("end_ns", c_uint64)])


class TensorDesc(Structure):  # mtl_buffer_tensor_desc
    _fields_ = laid_out("mtl_buffer_tensor_desc", [
        ("type", c_int), ("rank", c_uint32), ("extents", POINTER(c_int64)),
        ("strides", POINTER(c_int64)), ("offset_bytes", c_size_t),
        ("label", c_char_p)])


class BinaryArchiveDesc(Structure):  # mtl_binary_archive_desc
    _fields_ = laid_out("mtl_binary_archive_desc", [
        ("path", c_char_p), ("data", c_void_p), ("data_bytes", c_size_t),
        ("label", c_char_p)])


class LogStateDesc(Structure):  # mtl_log_state_desc
    _fields_ = laid_out("mtl_log_state_desc", [
        ("level", c_int), ("buffer_bytes", c_size_t), ("label", c_char_p)])


class LogMessage(Structure):  # mtl_log_message
    _fields_ = laid_out("mtl_log_message", [
        ("subsystem", c_char_p), ("category", c_char_p), ("level", c_int),
        ("text", c_char_p)])


class ModelTensor(Structure):  # mtl_model_tensor
    _fields_ = laid_out("mtl_model_tensor", [
        ("buffer", c_void_p), ("offset_bytes", c_size_t), ("type", c_int),
        ("rank", c_uint32), ("sizes", c_int64 * MAX_RANK),
        ("strides", c_int64 * MAX_RANK)])


class ModelDesc(Structure):  # mtl_model_desc
    _fields_ = laid_out("mtl_model_desc", [
        ("weights_path", c_char_p), ("instances", c_uint32),
        ("compile_lazily", c_bool)])


class ModelConstant(Structure):  # mtl_model_constant
    _fields_ = laid_out("mtl_model_constant", [
        ("name", c_char_p), ("original_name", c_char_p), ("type", c_int),
        ("data_bytes", c_uint64)])


# void (context, command buffer); (context, event, value); (context, message);
# (context, pipeline, status, error)
CommandBufferCallback = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
EventCallback = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_uint64)
LogHandler = ctypes.CFUNCTYPE(None, c_void_p, POINTER(LogMessage))
PipelineCallback = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_int, c_char_p)


# --- Functions ---------------------------------------------------------------

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


# f out-pointer of any kind; p handle; S text; s status, raised; t result text
LETTERS: Dict[str, Any] = {
    "p": c_void_p, "f": c_void_p, "S": c_char_p, "i": c_int, "u": c_uint32,
    "U": c_uint64, "z": c_size_t, "b": c_bool, "B": c_uint8, "G": Size,
    "R": Region, "A": Allocation, "T": Times, "s": _check, "t": c_char_p,
    "v": None}

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
mtl_buffer_release: p -> v
mtl_buffer_contents: p -> p
mtl_buffer_length: p -> z
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

    def __init__(self, library: ctypes.CDLL, table: str) -> None:
        for line in table.strip().split("\n"):
            name, _, types = line.partition(":")
            arguments, _, result = types.partition("->")
            function = getattr(library, name)
            function.argtypes = [LETTERS[letter]
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
mtl = Functions(LIBRARY, TABLE)
launch = Functions(LAUNCH, LAUNCH_TABLE)


def encode(text: Optional[str]) -> Optional[bytes]:
    """UTF-8 for a C string; None stays None."""
    return None if text is None else os.fsencode(text)


def make(function: Callable[..., Any], *arguments: Any) -> int:
    """Calls a function whose last argument is where a handle goes."""
    made = c_void_p()
    function(*arguments, ctypes.byref(made))
    assert made.value is not None
    return made.value


def triple(sizes: Any, what: str) -> Tuple[int, int, int]:
    """(x, y, z) of an int or of up to three."""
    values = (sizes,) if isinstance(sizes, int) else \
        tuple(int(size) for size in sizes)
    if not 1 <= len(values) <= 3:
        raise BY_STATUS[1](f"{what} has {len(values)} sides, 1 to 3 are "
                           "possible")
    if any(not 0 <= value < 1 << 32 for value in values):
        raise BY_STATUS[1](f"{what} {values}: sides are 0 to 2**32 - 1")
    return (values + (1, 1))[:3]  # type: ignore[return-value]
