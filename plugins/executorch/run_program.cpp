// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_program.cpp: runs an ExecuTorch program from C++, inputs all ones, as
// ExecuTorch's executor_runner does, whose first two options it has.
//
//   run_program --model_path=net.pte [--output_file=PREFIX] [--method=forward]
//               [--repeat=1] [--threads=1] [--loads=1]
//
// Writes output i to PREFIX-i.bin. Each thread loads the program anew --loads
// times and runs it --repeat times a load; all outputs must be the same. Prints
// the median time of a run. Exit status: 0, or 1 with a message.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using executorch::extension::Module;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using Bytes = std::vector<char>;

struct Options {
  std::string path, prefix, method = "forward";
  int repeat = 1, threads = 1, loads = 1;
};

bool take(const char *name, int argc, char **argv, int &i, std::string &value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argv[i], name, length) != 0) {
    return false;
  }
  if (argv[i][length] == '=') {
    value = argv[i] + length + 1;
    return true;
  }
  if (argv[i][length] != 0 || i + 1 == argc) {
    return false;
  }
  value = argv[++i];
  return true;
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string number;
    if (take("--model_path", argc, argv, i, options.path) ||
        take("--output_file", argc, argv, i, options.prefix) ||
        take("--method", argc, argv, i, options.method)) {
      continue;
    }
    if (take("--repeat", argc, argv, i, number)) {
      options.repeat = std::atoi(number.c_str());
    } else if (take("--threads", argc, argv, i, number)) {
      options.threads = std::atoi(number.c_str());
    } else if (take("--loads", argc, argv, i, number)) {
      options.loads = std::atoi(number.c_str());
    } else {
      std::fprintf(stderr, "there is no option %s\n", argv[i]);
      return false;
    }
  }
  return !options.path.empty() && options.repeat > 0 && options.threads > 0 &&
         options.loads > 0;
}

bool make_inputs(Module &module, const std::string &method,
                 std::vector<TensorPtr> &tensors,
                 std::vector<EValue> &values) {
  const auto meta = module.method_meta(method);
  if (!meta.ok()) {
    return false;
  }
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) {
      std::fprintf(stderr, "input %zu is no tensor\n", i);
      return false;
    }
    tensors.push_back(executorch::extension::ones(
        {info->sizes().begin(), info->sizes().end()}, info->scalar_type()));
    values.emplace_back(tensors.back());
  }
  return true;
}

class Runs {
 public:
  explicit Runs(const Options &options) : options_(options) {}

  void run() {
    for (int i = 0; i < options_.loads && !failed; ++i) {
      Module module(options_.path);
      std::vector<TensorPtr> tensors;
      std::vector<EValue> values;
      if (module.load_method(options_.method) != Error::Ok ||
          !make_inputs(module, options_.method, tensors, values)) {
        std::fprintf(stderr, "%s does not load\n", options_.path.c_str());
        failed = true;
        return;
      }
      for (int j = 0; j < options_.repeat && !failed; ++j) {
        run_once(module, values);
      }
    }
  }

  std::atomic<bool> failed{false};
  std::vector<Bytes> outputs;
  std::vector<double> seconds;

 private:
  void run_once(Module &module, const std::vector<EValue> &values) {
    const auto start = std::chrono::steady_clock::now();
    const auto results = module.execute(options_.method, values);
    const std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    if (!results.ok()) {
      std::fprintf(stderr, "a run failed: error %d\n",
                   static_cast<int>(results.error()));
      failed = true;
      return;
    }
    std::vector<Bytes> given;
    for (const EValue &value : *results) {
      const auto &tensor = value.toTensor();
      const auto *bytes = static_cast<const char *>(tensor.const_data_ptr());
      given.emplace_back(bytes, bytes + tensor.nbytes());
    }
    const std::lock_guard<std::mutex> guard(lock_);
    seconds.push_back(time.count());
    if (outputs.empty()) {
      outputs = std::move(given);
    } else if (outputs != given) {
      std::fprintf(stderr, "two runs differ\n");
      failed = true;
    }
  }

  const Options &options_;
  std::mutex lock_;
};

bool write_outputs(const std::string &prefix,
                   const std::vector<Bytes> &outputs) {
  for (size_t i = 0; i < outputs.size() && !prefix.empty(); ++i) {
    const std::string path = prefix + "-" + std::to_string(i) + ".bin";
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (!file) {
      std::perror(path.c_str());
      return false;
    }
    const size_t written =
        std::fwrite(outputs[i].data(), 1, outputs[i].size(), file);
    if (std::fclose(file) != 0 || written != outputs[i].size()) {
      std::perror(path.c_str());
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: run_program --model_path=net.pte ...\n");
    return 1;
  }
  Runs runs(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&runs] { runs.run(); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  if (runs.failed || !write_outputs(options.prefix, runs.outputs)) {
    return 1;
  }
  std::nth_element(runs.seconds.begin(),
                   runs.seconds.begin() + runs.seconds.size() / 2,
                   runs.seconds.end());
  std::printf("%zu runs, median %.1f us\n", runs.seconds.size(),
              runs.seconds[runs.seconds.size() / 2] * 1e6);
  return 0;
}
