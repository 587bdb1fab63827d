#include "tlaloc/cpu/compiler.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/codegen_library.h"
#include "tlaloc/cpu/dump.h"

namespace tlaloc::cpu {

Compiler::Compiler(Settings settings, std::vector<std::uint32_t> processor)
    : settings_(std::move(settings)), processor_(std::move(processor)), disk_(settings_.cache) {}

std::shared_ptr<const LoadedImage> Compiler::compile(std::string_view ir,
                                                     const CompileOptions& options) {
  const Digest key = key_of(ir, options);
  std::promise<Image> promise;
  Image image = claim(key, promise);
  if (image != nullptr) return image;
  try {
    image = make(key, ir, options);
  } catch (...) {
    finish(key, nullptr, promise);
    throw;
  }
  finish(key, image, promise);
  return image;
}

/// The image that is there or that another thread is making; null when it is ours to make and to
/// finish().
Compiler::Image Compiler::claim(const Digest& key, std::promise<Image>& promise) {
  for (;;) {
    std::shared_future<Image> theirs;
    {
      const std::lock_guard lock(mutex_);
      Slot& slot = slots_[key];
      if (Image image = slot.image.lock()) {
        ++counts_.from_memory;
        return image;
      }
      if (!slot.pending.valid()) {
        slot.pending = promise.get_future().share();
        return nullptr;
      }
      theirs = slot.pending;
    }
    if (Image image = theirs.get()) {
      const std::lock_guard lock(mutex_);
      ++counts_.from_memory;
      return image;
    }
    // They failed. Two threads can't share an exception, which others may extend: make our own.
  }
}

void Compiler::finish(const Digest& key, const Image& image, std::promise<Image>& promise) {
  {
    const std::lock_guard lock(mutex_);
    if (image == nullptr)
      slots_.erase(key);
    else
      slots_[key] = {image, {}};
    if (slots_.size() >= sweep_at_) {
      std::erase_if(slots_, [](const auto& slot) {
        return slot.second.image.expired() && !slot.second.pending.valid();
      });
      sweep_at_ = std::max<std::size_t>(64, 2 * slots_.size());
    }
  }
  promise.set_value(image);
}

/// Everything that decides about the code.
Digest Compiler::key_of(std::string_view ir, const CompileOptions& options) const {
  return Hasher()
      .add(TLALOC_CODEGEN_FINGERPRINT)
      .add(TLALOC_LLVM_VERSION)
      .add(settings_.codegen_library)
      .add(std::as_bytes(std::span(processor_)))
      .add(options.cpu)
      .add(options.features)
      .add(options.passes)
      .add(static_cast<std::uint64_t>(options.level))
      .add(ir)
      .finish();
}

namespace {

std::optional<CodeImage> kept_image(const cache::Store& disk, const Digest& key) {
  const auto bytes = disk.find(key);
  return bytes ? CodeImage::deserialize(*bytes) : std::nullopt;
}

}  // namespace

Compiler::Image Compiler::make(const Digest& key, std::string_view ir,
                               const CompileOptions& options) {
  // A dump shows what only LLVM knows.
  if (settings_.dump_folder.empty())
    if (const auto image = kept_image(disk_, key)) {
      auto loaded = std::make_shared<const LoadedImage>(*image);
      const std::lock_guard lock(mutex_);
      ++counts_.from_disk;
      return loaded;
    }
  auto loaded = std::make_shared<const LoadedImage>(generate_and_keep(key, ir, options));
  const std::lock_guard lock(mutex_);
  ++counts_.compiled;
  return loaded;
}

CodeImage Compiler::generate_and_keep(const Digest& key, std::string_view ir,
                                      const CompileOptions& options) {
  std::optional<Dump> dump;
  if (!settings_.dump_folder.empty()) {
    dump.emplace(settings_.dump_folder, options.name, key);
    if (options.graph) dump->write(".graph", options.graph());
    dump->write(".ll", ir);  // before LLVM sees it, which may end the process
  }
  Generated generated = generate(settings_.codegen_library, ir, options, dump.has_value());
  if (dump) {
    dump->write("-optimized.ll", generated.optimized_ir);
    dump->write(".s", generated.assembly);
  }
  disk_.store(key, generated.image.serialize());
  return std::move(generated.image);
}

CompileCounts Compiler::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

namespace {

Compiler& compiler_of_process() {
  // Never destroyed: other threads may still compile while the process ends.
  static Compiler& compiler = *new Compiler(settings_from_environment());
  return compiler;
}

}  // namespace

std::shared_ptr<const LoadedImage> compile_ir(std::string_view ir, const CompileOptions& options) {
  return compiler_of_process().compile(ir, options);
}

CompileCounts compile_counts() { return compiler_of_process().counts(); }

}  // namespace tlaloc::cpu
