// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal_backend.cpp: ExecuTorch's "MetalBackend" over Mettle's model.h. A
// delegate is a shared object that AOTInductor compiled for device "mps" and
// its weights; both lie in the program (.pte, .ptd) under the two keys that the
// delegate's bytes name.
//
// Options (set_option, before a program is loaded; or load-time options):
//   device           text  a name or number as of METTLE_DEVICE
//   compile_lazily   bool  kernels when they first run, not at the load
// Statistics (get_option), of all delegates since the start:
//   dispatches, copies, host_operations, commits, waits   int
//
// Threads  Any; one delegate is run by one thread at a time.
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>
#include <mettle/mettle.h>
#include <mettle/model.h>

#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace et = executorch::runtime;
namespace aten = executorch::aten;

// --- Errors ------------------------------------------------------------------

et::Error code_of(mtl_status status) {
  switch (status) {
    case MTL_OK: return et::Error::Ok;
    case MTL_INVALID_ARGUMENT: return et::Error::InvalidArgument;
    case MTL_INVALID_STATE: return et::Error::InvalidState;
    case MTL_NOT_FOUND: return et::Error::NotFound;
    case MTL_OUT_OF_MEMORY: return et::Error::MemoryAllocationFailed;
    case MTL_UNSUPPORTED: return et::Error::NotSupported;
    case MTL_BAD_DATA: return et::Error::DelegateInvalidCompatibility;
    default: return et::Error::Internal;
  }
}

et::Error fail(const char *what, mtl_status status) {
  ET_LOG(Error, "MetalBackend: %s: %s", what, mtl_last_error());
  return code_of(status);
}

#define ET_TRY(what, call)                  \
  do {                                      \
    const mtl_status status_ = (call);      \
    if (status_ != MTL_OK) {                \
      return fail(what, status_);           \
    }                                       \
  } while (0)

// --- Delegates ---------------------------------------------------------------

struct Delegate {
  mtl_stream *stream = nullptr;  // +1
  mtl_model *model = nullptr;    // +1
  bool has_unified_memory = false;
  std::vector<mtl_model_tensor> inputs;
  std::vector<mtl_buffer *> copies;  // [inputs] +1 each; NULL if in place

  ~Delegate() {
    for (mtl_buffer *copy : copies) {
      mtl_buffer_release(copy);
    }
    mtl_model_release(model);
    mtl_stream_release(stream);
  }
};

// Makes stream the thread's current one, by which models choose their device.
class CurrentStream {
 public:
  explicit CurrentStream(mtl_stream *stream) {
    if (mtl_stream_current(&before_) == MTL_OK) {
      mtl_stream_retain(before_);
      mtl_stream_set_current(stream);
    }
  }
  ~CurrentStream() {
    if (before_) {
      mtl_stream_set_current(before_);
      mtl_stream_release(before_);
    }
  }
  CurrentStream(const CurrentStream &) = delete;
  CurrentStream &operator=(const CurrentStream &) = delete;

 private:
  mtl_stream *before_ = nullptr;
};

// --- Inputs ------------------------------------------------------------------

// Smaller inputs are copied: that takes less time than a buffer around them.
constexpr size_t kInPlaceBytes = 64 * 1024;

bool describe(const aten::Tensor &tensor, mtl_model_tensor *out) {
  *out = {};
  if (tensor.dim() > MTL_TENSOR_MAX_RANK) {
    return false;
  }
  // The codes are PyTorch's in both.
  out->type = static_cast<mtl_scalar_type>(tensor.scalar_type());
  out->rank = static_cast<uint32_t>(tensor.dim());
  for (uint32_t i = 0; i < out->rank; ++i) {
    out->sizes[i] = tensor.sizes()[i];
    out->strides[i] = tensor.strides()[i];
  }
  out->data = tensor.mutable_data_ptr();
  return true;
}

et::Error copy_input(Delegate &delegate, size_t index, size_t bytes) {
  mtl_buffer *&copy = delegate.copies[index];
  mtl_model_tensor &input = delegate.inputs[index];
  if (!copy || mtl_buffer_length(copy) < bytes) {
    mtl_buffer_release(copy);
    copy = nullptr;
    mtl_buffer_desc desc = {};
    desc.length_bytes = bytes ? bytes : 1;
    ET_TRY("an input", mtl_buffer_create(mtl_stream_device(delegate.stream),
                                         &desc, &copy));
  }
  if (bytes != 0) {
    std::memcpy(mtl_buffer_contents(copy), input.data, bytes);
  }
  input.buffer = copy;
  input.data = nullptr;
  return et::Error::Ok;
}

et::Error take_input(Delegate &delegate, size_t index, const et::EValue &value) {
  if (!value.isTensor()) {
    ET_LOG(Error, "MetalBackend: input %zu is no tensor", index);
    return et::Error::NotSupported;
  }
  const aten::Tensor &tensor = value.toTensor();
  if (!describe(tensor, &delegate.inputs[index])) {
    ET_LOG(Error, "MetalBackend: input %zu has %zd dimensions; at most %d",
           index, static_cast<ssize_t>(tensor.dim()), MTL_TENSOR_MAX_RANK);
    return et::Error::NotSupported;
  }
  const size_t bytes = tensor.nbytes();
  return delegate.has_unified_memory && bytes >= kInPlaceBytes
             ? et::Error::Ok
             : copy_input(delegate, index, bytes);
}

// --- Outputs -----------------------------------------------------------------

bool is_dense(const aten::Tensor &tensor, const mtl_model_tensor &source) {
  for (uint32_t i = 0; i < source.rank; ++i) {
    if (source.sizes[i] != 1 && source.strides[i] != tensor.strides()[i]) {
      return false;
    }
  }
  return true;
}

// Copies one dimension after the other; rows of elements at the end.
void copy_strided(char *target, const aten::Tensor &shape, const char *source,
                  const mtl_model_tensor &layout, size_t element,
                  uint32_t dimension) {
  if (dimension == layout.rank) {
    std::memcpy(target, source, element);
    return;
  }
  const auto target_step =
      static_cast<ptrdiff_t>(shape.strides()[dimension]) *
      static_cast<ptrdiff_t>(element);
  const auto source_step =
      static_cast<ptrdiff_t>(layout.strides[dimension]) *
      static_cast<ptrdiff_t>(element);
  for (int64_t i = 0; i < layout.sizes[dimension]; ++i) {
    copy_strided(target + i * target_step, shape, source + i * source_step,
                 layout, element, dimension + 1);
  }
}

et::Error give_output(size_t index, const mtl_model_tensor &source,
                      et::EValue &value) {
  if (!value.isTensor()) {
    ET_LOG(Error, "MetalBackend: output %zu is no tensor", index);
    return et::Error::NotSupported;
  }
  aten::Tensor &tensor = value.toTensor();
  const auto type = static_cast<mtl_scalar_type>(tensor.scalar_type());
  if (type != source.type) {
    ET_LOG(Error, "MetalBackend: output %zu is %s; the program has %s there",
           index, mtl_scalar_type_name(source.type),
           mtl_scalar_type_name(type));
    return et::Error::InvalidType;
  }
  std::array<aten::SizesType, MTL_TENSOR_MAX_RANK> sizes;
  for (uint32_t i = 0; i < source.rank; ++i) {
    sizes[i] = static_cast<aten::SizesType>(source.sizes[i]);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(
      et::resize_tensor(tensor, {sizes.data(), source.rank}));
  const auto *from =
      static_cast<const char *>(mtl_buffer_contents(source.buffer)) +
      source.offset_bytes;
  auto *to = static_cast<char *>(tensor.mutable_data_ptr());
  if (tensor.numel() == 0) {
    return et::Error::Ok;
  }
  if (is_dense(tensor, source)) {
    std::memcpy(to, from, tensor.nbytes());
  } else {
    copy_strided(to, tensor, from, source, mtl_scalar_type_size(source.type),
                 0);
  }
  return et::Error::Ok;
}

// --- The program's data ------------------------------------------------------

// A delegate's bytes are two keys, a line each: of the object, of the weights.
bool read_keys(const et::FreeableBuffer &processed, std::string_view *object,
               std::string_view *weights) {
  const std::string_view text(static_cast<const char *>(processed.data()),
                              processed.size());
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return false;
  }
  *object = text.substr(0, end);
  *weights = text.substr(end + 1);
  while (!weights->empty() &&
         (weights->back() == '\n' || weights->back() == '\0')) {
    weights->remove_suffix(1);
  }
  return !object->empty() && !weights->empty();
}

et::Error load_model(Delegate &delegate, const et::NamedDataMap &data,
                     const et::FreeableBuffer &processed,
                     bool compile_lazily) {
  std::string_view object_key, weights_key;
  if (!read_keys(processed, &object_key, &weights_key)) {
    ET_LOG(Error,
           "MetalBackend: the delegate has no two keys; programs of ExecuTorch "
           "1.5 and newer have");
    return et::Error::DelegateInvalidCompatibility;
  }
  auto object = data.get_data(object_key);
  ET_CHECK_OK_OR_RETURN_ERROR(object.error());
  auto weights = data.get_data(weights_key);
  ET_CHECK_OK_OR_RETURN_ERROR(weights.error());
  mtl_model_desc desc = {};
  desc.compile_lazily = compile_lazily;
  desc.object = object->data();
  desc.object_bytes = object->size();
  // An empty blob is no weights, not weights in a file.
  desc.weights = weights->size() ? weights->data() : "";
  desc.weights_bytes = weights->size();
  const std::string name(object_key);
  const mtl_status status =
      mtl_model_load(name.c_str(), &desc, &delegate.model);
  object->Free();
  weights->Free();
  return status == MTL_OK ? et::Error::Ok : fail("a model", status);
}

// --- The backend -------------------------------------------------------------

class MetalBackend final : public et::BackendInterface {
 public:
  bool is_available() const override { return true; }

  et::Result<et::DelegateHandle *> init(
      et::BackendInitContext &context, et::FreeableBuffer *processed,
      et::ArrayRef<et::CompileSpec>) const override {
    const et::NamedDataMap *data = context.get_named_data_map();
    if (!data) {
      ET_LOG(Error, "MetalBackend: the program has no named data");
      return et::Error::InvalidProgram;
    }
    auto *delegate = new (std::nothrow) Delegate;
    if (!delegate) {
      return et::Error::MemoryAllocationFailed;
    }
    const et::Error error = open(*delegate, context, *data, *processed);
    processed->Free();
    if (error != et::Error::Ok) {
      delete delegate;
      return error;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    delegates_.insert(delegate);
    return delegate;
  }

  et::Error execute(et::BackendExecutionContext &, et::DelegateHandle *handle,
                    et::Span<et::EValue *> values) const override {
    Delegate &delegate = *static_cast<Delegate *>(handle);
    const size_t input_count = delegate.inputs.size();
    const size_t output_count = mtl_model_output_count(delegate.model);
    if (values.size() != input_count + output_count) {
      ET_LOG(Error,
             "MetalBackend: %zu values; the model takes %zu and gives %zu",
             values.size(), input_count, output_count);
      return et::Error::InvalidArgument;
    }
    for (size_t i = 0; i < input_count; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(take_input(delegate, i, *values[i]));
    }
    mtl_model_result *result = nullptr;
    ET_TRY("a run",
           mtl_model_run(delegate.model, delegate.stream,
                         delegate.inputs.data(), input_count, &result));
    const et::Error error = finish(delegate, result, values.data() + input_count);
    mtl_model_result_release(result);
    return error;
  }

  void destroy(et::DelegateHandle *handle) const override {
    auto *delegate = static_cast<Delegate *>(handle);
    {
      const std::lock_guard<std::mutex> guard(lock_);
      delegates_.erase(delegate);
      add(ended_, mtl_stream_get_statistics(delegate->stream));
    }
    delete delegate;
  }

  et::Error set_option(et::BackendOptionContext &,
                       const et::Span<et::BackendOption> &options) override {
    const std::lock_guard<std::mutex> guard(lock_);
    for (const et::BackendOption &option : options) {
      ET_CHECK_OK_OR_RETURN_ERROR(choose(option, device_, compile_lazily_));
    }
    return et::Error::Ok;
  }

  et::Error get_option(et::BackendOptionContext &,
                       et::Span<et::BackendOption> &options) override {
    const mtl_stream_statistics sum = statistics();
    const std::pair<const char *, uint64_t> counts[] = {
        {"dispatches", sum.dispatches},
        {"copies", sum.copies},
        {"host_operations", sum.host_operations},
        {"commits", sum.commits},
        {"waits", sum.waits}};
    for (et::BackendOption &option : options) {
      bool is_known = false;
      for (const auto &[name, count] : counts) {
        if (std::strcmp(option.key, name) == 0) {
          option.value = static_cast<int>(count);
          is_known = true;
        }
      }
      if (!is_known) {
        ET_LOG(Error, "MetalBackend: there is no option '%s' to get",
               option.key);
        return et::Error::NotFound;
      }
    }
    return et::Error::Ok;
  }

  mtl_stream_statistics statistics() const {
    const std::lock_guard<std::mutex> guard(lock_);
    mtl_stream_statistics sum = ended_;
    for (const Delegate *delegate : delegates_) {
      add(sum, mtl_stream_get_statistics(delegate->stream));
    }
    return sum;
  }

 private:
  using Text = std::array<char, et::kMaxOptionValueLength>;

  static void add(mtl_stream_statistics &sum,
                  const mtl_stream_statistics &more) {
    sum.dispatches += more.dispatches;
    sum.copies += more.copies;
    sum.host_operations += more.host_operations;
    sum.commits += more.commits;
    sum.waits += more.waits;
  }

  static et::Error choose(const et::BackendOption &option, std::string &device,
                          bool &compile_lazily) {
    if (std::strcmp(option.key, "device") == 0) {
      if (const auto *text = std::get_if<Text>(&option.value)) {
        device.assign(text->data(), strnlen(text->data(), text->size()));
        return et::Error::Ok;
      }
    } else if (std::strcmp(option.key, "compile_lazily") == 0) {
      if (const auto *value = std::get_if<bool>(&option.value)) {
        compile_lazily = *value;
        return et::Error::Ok;
      }
    } else {
      ET_LOG(Error, "MetalBackend: there is no option '%s' to set",
             option.key);
      return et::Error::NotFound;
    }
    ET_LOG(Error, "MetalBackend: option '%s' is of another type", option.key);
    return et::Error::InvalidArgument;
  }

  et::Error open(Delegate &delegate, const et::BackendInitContext &context,
                 const et::NamedDataMap &data,
                 const et::FreeableBuffer &processed) const {
    std::string device_name;
    bool compile_lazily = false;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      device_name = device_;
      compile_lazily = compile_lazily_;
    }
    for (const et::BackendOption &option : context.runtime_specs()) {
      ET_CHECK_OK_OR_RETURN_ERROR(choose(option, device_name, compile_lazily));
    }
    mtl_device *device = nullptr;
    ET_TRY("a device",
           device_name.empty()
               ? mtl_device_default(&device)
               : mtl_device_by_name(device_name.c_str(), &device));
    delegate.has_unified_memory =
        mtl_device_get_info(device)->has_unified_memory;
    const mtl_status status =
        mtl_stream_create(device, nullptr, &delegate.stream);
    mtl_device_release(device);
    ET_TRY("a stream", status);
    const CurrentStream current(delegate.stream);
    ET_CHECK_OK_OR_RETURN_ERROR(
        load_model(delegate, data, processed, compile_lazily));
    delegate.inputs.resize(mtl_model_input_count(delegate.model));
    delegate.copies.resize(delegate.inputs.size());
    return et::Error::Ok;
  }

  static et::Error finish(const Delegate &delegate,
                          const mtl_model_result *result,
                          et::EValue **outputs) {
    ET_TRY("a run", mtl_stream_synchronize(delegate.stream,
                                           MTL_SYNC_COMMIT_AND_WAIT));
    for (size_t i = 0; i < mtl_model_result_count(result); ++i) {
      mtl_model_tensor output;
      ET_TRY("an output", mtl_model_result_get(result, i, &output));
      ET_CHECK_OK_OR_RETURN_ERROR(give_output(i, output, *outputs[i]));
    }
    return et::Error::Ok;
  }

  mutable std::mutex lock_;  // over all below
  mutable std::set<const Delegate *> delegates_;
  mutable mtl_stream_statistics ended_ = {};
  std::string device_;  // empty for the default one
  bool compile_lazily_ = false;
};

MetalBackend backend;
const et::Error registered = et::register_backend({"MetalBackend", &backend});

}  // namespace

// For mettle_executorch, which loads this: the ExecuTorch whose headers it was
// built from; whether that took it; and the statistics above, in their order.
extern "C" __attribute__((visibility("default"))) const char *const
    mettle_executorch_version = METTLE_EXECUTORCH_VERSION;
extern "C" __attribute__((visibility("default"))) int
mettle_executorch_is_registered(void) {
  return registered == et::Error::Ok;
}
extern "C" __attribute__((visibility("default"))) void
mettle_executorch_statistics(uint64_t counts[5]) {
  const mtl_stream_statistics sum = backend.statistics();
  counts[0] = sum.dispatches;
  counts[1] = sum.copies;
  counts[2] = sum.host_operations;
  counts[3] = sum.commits;
  counts[4] = sum.waits;
}
