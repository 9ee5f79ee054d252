# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_structures.py: the C API's structures and callbacks for ctypes, laid out as
the headers have them that native/layouts.c was compiled with."""

from __future__ import annotations

import ctypes
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_float, c_int,
                    c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Sequence, Tuple

from ._loading import LAUNCH

MAX_RANK = 16  # MTL_TENSOR_MAX_RANK


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
