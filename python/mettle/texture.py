# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""texture.py: images that kernels read, write and sample, and samplers."""

from __future__ import annotations

import ctypes
import enum
import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structures
from ._handle import Handle
from ._native import encode, make, mtl
from .buffer import Buffer, storage_code
from .errors import InvalidArgumentError, UnsupportedError
from .library import TEXTURE_TYPES

if TYPE_CHECKING:
    from .device import Device


class PixelFormat(enum.IntEnum):
    """Metal's names and raw values."""

    A8_UNORM = 1
    R8_UNORM = 10
    R8_UNORM_SRGB = 11
    R8_SNORM = 12
    R8_UINT = 13
    R8_SINT = 14
    R16_UNORM = 20
    R16_SNORM = 22
    R16_UINT = 23
    R16_SINT = 24
    R16_FLOAT = 25
    RG8_UNORM = 30
    RG8_UNORM_SRGB = 31
    RG8_SNORM = 32
    RG8_UINT = 33
    RG8_SINT = 34
    B5G6R5_UNORM = 40
    A1BGR5_UNORM = 41
    ABGR4_UNORM = 42
    BGR5A1_UNORM = 43
    R32_UINT = 53
    R32_SINT = 54
    R32_FLOAT = 55
    RG16_UNORM = 60
    RG16_SNORM = 62
    RG16_UINT = 63
    RG16_SINT = 64
    RG16_FLOAT = 65
    RGBA8_UNORM = 70
    RGBA8_UNORM_SRGB = 71
    RGBA8_SNORM = 72
    RGBA8_UINT = 73
    RGBA8_SINT = 74
    BGRA8_UNORM = 80
    BGRA8_UNORM_SRGB = 81
    RGB10A2_UNORM = 90
    RGB10A2_UINT = 91
    RG11B10_FLOAT = 92
    RGB9E5_FLOAT = 93
    BGR10A2_UNORM = 94
    RG32_UINT = 103
    RG32_SINT = 104
    RG32_FLOAT = 105
    RGBA16_UNORM = 110
    RGBA16_SNORM = 112
    RGBA16_UINT = 113
    RGBA16_SINT = 114
    RGBA16_FLOAT = 115
    RGBA32_UINT = 123
    RGBA32_SINT = 124
    RGBA32_FLOAT = 125
    DEPTH16_UNORM = 250
    DEPTH32_FLOAT = 252


# Of the formats whose components are a type of NumPy's: (type, components).
_LAYOUTS = {"8_UNORM": "u1", "8_UNORM_SRGB": "u1", "8_UINT": "u1",
            "8_SNORM": "i1", "8_SINT": "i1", "16_UNORM": "u2",
            "16_UINT": "u2", "16_SNORM": "i2", "16_SINT": "i2",
            "16_FLOAT": "f2", "32_UINT": "u4", "32_SINT": "i4",
            "32_FLOAT": "f4"}
_DEPTHS = {PixelFormat.DEPTH16_UNORM: "u2", PixelFormat.DEPTH32_FLOAT: "f4"}
FORMATS_OF = {"u1": "8_UNORM", "i1": "8_SNORM", "u2": "16_UNORM",
              "i2": "16_SNORM", "f2": "16_FLOAT", "u4": "32_UINT",
              "i4": "32_SINT", "f4": "32_FLOAT"}


def layout(pixel_format: PixelFormat) -> Tuple[np.dtype, int]:
    """(type, count) of a texel's components in memory; packed formats are
    one integer."""
    name = pixel_format.name
    if pixel_format in _DEPTHS:
        return np.dtype(_DEPTHS[pixel_format]), 1
    for channels in ("RGBA", "BGRA", "RG", "R", "A"):
        kind = _LAYOUTS.get(name[len(channels):])
        if name.startswith(channels) and kind:
            return np.dtype(kind), len(channels)
    return np.dtype(f"u{mtl.mtl_pixel_format_bytes(pixel_format)}"), 1


def format_of(array: np.ndarray, channels: int, srgb: bool = False) -> \
        PixelFormat:
    """The format of an array's elements in so many channels."""
    kind = array.dtype.str[1:]
    names = {1: "R", 2: "RG", 4: "RGBA"}
    if kind not in FORMATS_OF or channels not in names:
        raise InvalidArgumentError(
            f"no pixel format has {channels} channels of {array.dtype}")
    name = names[channels] + FORMATS_OF[kind] + ("_SRGB" if srgb else "")
    try:
        return PixelFormat[name]
    except KeyError:
        raise InvalidArgumentError(f"there is no pixel format {name}") \
            from None


def _format(value: Union[PixelFormat, str, int]) -> PixelFormat:
    if isinstance(value, str):
        try:
            return PixelFormat[value.upper()]
        except KeyError:
            raise InvalidArgumentError(
                f"no pixel format is called {value!r}") from None
    return PixelFormat(value)


class Texture(Handle):
    """A texture. ``Texture.from_array`` and ``Texture.open`` make one of an
    image, ``numpy()`` and ``save`` take it out again."""

    __slots__ = ("device", "_keeps", "_last")
    _release = mtl.mtl_texture_release

    def __init__(self, device: "Device", width: int, height: int = 0,
                 depth: int = 0, *,
                 format: Union[PixelFormat, str] = PixelFormat.RGBA8_UNORM,
                 type: Optional[str] = None, levels: int = 1,
                 array_length: int = 0, samples: int = 1,
                 storage: str = "shared", hazard_tracked: bool = True,
                 label: Optional[str] = None,
                 _handle: Optional[int] = None, _keeps: Any = None) -> None:
        """Makes a texture of zeros; sides are in texels.

        type   "1d", "1d_array", "2d", "2d_array", "2d_multisample",
               "2d_multisample_array", "cube", "cube_array", "3d", "buffer";
               None for 1-D, 2-D or 3-D, by the sides given"""
        self.device = device
        self._keeps = _keeps
        self._last: Any = None
        if _handle is None:
            desc = texture_desc(width, height, depth, format, type, levels,
                                array_length, samples, label)
            desc.storage_mode = storage_code(storage)
            desc.hazard_tracking = int(not hazard_tracked)
            _handle = make(mtl.mtl_texture_create, device, ctypes.byref(desc))
        super().__init__(_handle)

    @classmethod
    def from_array(cls, device: "Device", array: Any, *, srgb: bool = False,
                   format: Union[PixelFormat, str, None] = None,
                   label: Optional[str] = None) -> "Texture":
        """A 2-D texture of an image: [height, width] or [height, width,
        channels]. Three channels get a fourth, which is opaque."""
        image = np.asarray(array)
        if image.ndim == 2:
            image = image[:, :, None]
        if image.ndim != 3:
            raise InvalidArgumentError(f"an image of {image.ndim} dimensions, "
                                       "2 or 3 are possible")
        if not image.size:
            raise InvalidArgumentError("an image without texels, of shape "
                                       f"{image.shape}")
        if image.shape[2] == 3:
            full = 1 if image.dtype.kind == "f" else \
                np.iinfo(image.dtype).max
            alpha = np.full(image.shape[:2] + (1,), full, image.dtype)
            image = np.concatenate([image, alpha], axis=2)
        found = format_of(image, image.shape[2], srgb) if format is None \
            else _format(format)
        texture = cls(device, image.shape[1], image.shape[0], format=found,
                      label=label)
        texture.replace(image)
        return texture

    @classmethod
    def open(cls, device: "Device", path: Union[str, os.PathLike], *,
             srgb: bool = False) -> "Texture":
        """An RGBA texture of a PNG or any other file that Pillow reads."""
        with _pillow().open(path) as image:
            return cls.from_array(device, np.asarray(image.convert("RGBA")),
                                  srgb=srgb)

    @classmethod
    def over(cls, buffer: Buffer, width: int, height: int = 0, *,
             format: Union[PixelFormat, str], offset: int = 0,
             bytes_per_row: int = 0, type: Optional[str] = None) -> "Texture":
        """A texture of a buffer's bytes. Rows and offset are multiples of 16
        bytes."""
        desc = texture_desc(width, height, 0, format, type, 1, 0, 1, None)
        row = bytes_per_row or \
            width * mtl.mtl_pixel_format_bytes(desc.pixel_format)
        return cls(buffer.device, width, height, _keeps=buffer, _handle=make(
            mtl.mtl_texture_create_from_buffer, buffer, ctypes.byref(desc),
            offset, row))

    def view(self, *, format: Union[PixelFormat, str, None] = None,
             type: Optional[str] = None, first_level: int = 0,
             level_count: int = 0, first_slice: int = 0, slice_count: int = 0,
             swizzle: str = "") -> "Texture":
        """A texture that shows levels and slices of this one's memory.
        swizzle says where components come from: "bgra", "rrr1"."""
        desc = _structures.TextureViewDesc(
            type=TEXTURE_TYPES.index(type or ""),
            pixel_format=int(self.format if format is None
                             else _format(format)),
            first_level=first_level, level_count=level_count,
            first_slice=first_slice, slice_count=slice_count)
        for i, letter in enumerate(swizzle):
            desc.swizzle[i] = 1 + "01rgba".index(letter)
        return Texture(self.device, 0, _keeps=self, _handle=make(
            mtl.mtl_texture_create_view, self, ctypes.byref(desc)))

    def __repr__(self) -> str:
        sides = "x".join(str(side) for side in self.shape[::-1])
        return f"<mettle.Texture {self.type} {sides} {self.format.name}>"

    @property
    def _info(self) -> Any:
        return _structures.TextureDesc.from_address(mtl.mtl_texture_info(self))

    @property
    def type(self) -> str:
        """"2d", for instance."""
        return TEXTURE_TYPES[self._info.type]

    @property
    def format(self) -> PixelFormat:
        """The pixel format."""
        return PixelFormat(self._info.pixel_format)

    @property
    def width(self) -> int:
        """Texels."""
        return self._info.width

    @property
    def height(self) -> int:
        """Texels."""
        return self._info.height

    @property
    def depth(self) -> int:
        """Texels, of a 3-D texture."""
        return self._info.depth

    @property
    def levels(self) -> int:
        """Mipmap levels."""
        return self._info.level_count

    @property
    def array_length(self) -> int:
        """Elements of an array type."""
        return self._info.array_length

    @property
    def shape(self) -> Tuple[int, ...]:
        """The sides as an array has them: (height, width), or with the
        depth in front."""
        if self.type.startswith(("1d", "buffer")):
            return (self.width,)
        if self.type == "3d":
            return (self.depth, self.height, self.width)
        return (self.height, self.width)

    @property
    def resource_id(self) -> int:
        """What an argument buffer holds of the texture."""
        return mtl.mtl_texture_resource_id(self)

    @property
    def label(self) -> str:
        """The name shown in errors."""
        return mtl.mtl_texture_label(self)

    @label.setter
    def label(self, text: str) -> None:
        mtl.mtl_texture_set_label(self, encode(text))

    def _region(self, level: int) -> Any:
        sides = [max(1, side >> level) for side in
                 (self.width, self.height, self.depth)]
        return _structures.Region(0, 0, 0, *sides)

    def _level_array(self, level: int) -> np.ndarray:
        kind, count = layout(self.format)
        shape = tuple(max(1, side >> level) for side in self.shape)
        return np.empty(shape + ((count,) if count > 1 else ()), kind)

    def replace(self, array: Any, *, level: int = 0, slice: int = 0) -> None:
        """Copies a whole level in."""
        wanted = self._level_array(level)
        given = np.ascontiguousarray(array)
        if given.dtype != wanted.dtype or given.size != wanted.size:
            raise InvalidArgumentError(
                f"level {level} takes {wanted.dtype}{list(wanted.shape)}, not "
                f"{given.dtype}{list(given.shape)}")
        mtl.mtl_texture_replace_region(self, self._region(level), level,
                                       slice, given.ctypes.data, 0, 0)

    def numpy(self, *, level: int = 0, slice: int = 0) -> np.ndarray:
        """A copy of a level. Waits for what compile_shader's functions do
        with the texture."""
        self.synchronize()
        array = self._level_array(level)
        mtl.mtl_texture_get_bytes(self, self._region(level), level, slice,
                                  array.ctypes.data, 0, 0)
        return array

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> \
            np.ndarray:
        if copy is False:
            raise ValueError("a texture's texels can only be copied")
        return self.numpy().astype(dtype or layout(self.format)[0],
                                   copy=False)

    def synchronize(self) -> None:
        """Waits for the last call of compile_shader's functions that uses
        the texture."""
        last, self._last = self._last, None
        if last is not None:
            last.wait()

    def image(self) -> Any:
        """A Pillow image of it."""
        array = self.numpy()
        if array.dtype.kind == "f":
            array = np.rint(np.clip(array, 0, 1) * 255)
        elif array.dtype != np.uint8:
            raise UnsupportedError(f"no picture of {self.format.name}")
        array = array.astype(np.uint8)
        if self.format.name.startswith("BGRA"):
            array = array[..., [2, 1, 0, 3]]
        if array.ndim == 3 and array.shape[2] == 2:
            array = np.concatenate([array, np.zeros_like(array[..., :1])], 2)
        return _pillow().fromarray(array)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes a PNG or any other file that Pillow writes."""
        self.image().save(path)


def texture_desc(width: int, height: int, depth: int,
                 pixel_format: Union[PixelFormat, str], kind: Optional[str],
                 levels: int, array_length: int, samples: int,
                 label: Optional[str]) -> Any:
    """mtl_texture_desc of Texture's options."""
    if kind is None:
        kind = "3d" if depth else "2d" if height else "1d"
    if kind not in TEXTURE_TYPES:
        raise InvalidArgumentError(f"texture type {kind!r} is none of "
                                   f"{', '.join(TEXTURE_TYPES[1:])}")
    return _structures.TextureDesc(
        type=TEXTURE_TYPES.index(kind),
        pixel_format=int(_format(pixel_format)), width=width, height=height,
        depth=depth, level_count=levels, array_length=array_length,
        sample_count=samples, label=encode(label))


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError:
        raise UnsupportedError("pictures want the package Pillow") from None
    return PIL.Image


ADDRESS_MODES = ["clamp_to_edge", "mirror_clamp_to_edge", "repeat",
                 "mirror_repeat", "clamp_to_zero", "clamp_to_border_color"]
FILTERS = ["nearest", "linear"]
MIP_FILTERS = ["none", "nearest", "linear"]
COMPARE_FUNCTIONS = ["never", "less", "equal", "less_equal", "greater",
                     "not_equal", "greater_equal", "always"]
BORDER_COLORS = ["transparent_black", "opaque_black", "opaque_white"]


def _index(words: Sequence[str], word: str, what: str) -> int:
    if word not in words:
        raise InvalidArgumentError(f"{what} {word!r} is none of "
                                   f"{', '.join(words)}")
    return list(words).index(word)


class Sampler(Handle):
    """How kernels sample textures."""

    __slots__ = ("device",)
    _release = mtl.mtl_sampler_release

    def __init__(self, device: "Device", *, filter: str = "nearest",
                 min_filter: Optional[str] = None,
                 mag_filter: Optional[str] = None, mip_filter: str = "none",
                 address: Union[str, Sequence[str]] = "clamp_to_edge",
                 max_anisotropy: int = 1, pixel_coordinates: bool = False,
                 lod_min: float = 0.0, lod_max: float = 0.0,
                 compare_function: str = "never",
                 border_color: str = "transparent_black",
                 label: Optional[str] = None) -> None:
        """filter is both min_filter and mag_filter; address one mode, or
        those of s, t and r; lod_max 0 means no limit."""
        self.device = device
        modes = [address] * 3 if isinstance(address, str) else list(address)
        codes = [_index(ADDRESS_MODES, mode, "address") for mode in modes]
        codes += [0] * (3 - len(codes))
        desc = _structures.SamplerDesc(
            min_filter=_index(FILTERS, min_filter or filter, "filter"),
            mag_filter=_index(FILTERS, mag_filter or filter, "filter"),
            mip_filter=_index(MIP_FILTERS, mip_filter, "mip_filter"),
            s_address=codes[0], t_address=codes[1], r_address=codes[2],
            max_anisotropy=max_anisotropy,
            is_pixel_coordinates=pixel_coordinates, lod_min_clamp=lod_min,
            lod_max_clamp=lod_max, compare_function=_index(
                COMPARE_FUNCTIONS, compare_function, "compare_function"),
            border_color=_index(BORDER_COLORS, border_color, "border_color"),
            label=encode(label))
        super().__init__(make(mtl.mtl_sampler_create, device,
                              ctypes.byref(desc)))

    @property
    def resource_id(self) -> int:
        """What an argument buffer holds of the sampler."""
        return mtl.mtl_sampler_resource_id(self)
