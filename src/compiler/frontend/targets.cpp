// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// targets.cpp: checks the processor and features of a target's text. LLVM's C
// API does not: for an unknown processor it takes another with a warning that
// nobody sees, or ends the process.
#include <llvm-c/Target.h>
#include <string.h>

#include <memory>
#include <string>

#include "compiler/frontend/parts.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

namespace {

using Subtarget = std::unique_ptr<llvm::MCSubtargetInfo>;

std::string quoted(llvm::StringRef Text) { return "\"" + Text.str() + "\""; }

Subtarget subtargetOf(llvm::StringRef Architecture, llvm::StringRef CPU,
                      llvm::StringRef Features) {
  const std::string Triple = Architecture.str() + "-unknown-linux-gnu";
  std::string Error;
  const llvm::Target *Found = llvm::TargetRegistry::lookupTarget(Triple, Error);
  return Subtarget(
      Found ? Found->createMCSubtargetInfo(Triple, CPU, Features) : nullptr);
}

bool isSign(llvm::StringRef Text) {
  return Text.starts_with("+") || Text.starts_with("-");
}

bool isFeature(const llvm::MCSubtargetInfo &Info, llvm::StringRef Name) {
  for (const llvm::SubtargetFeatureKV &Feature :
       Info.getAllProcessorFeatures()) {
    if (Name == Feature.Key) return true;
  }
  return false;
}

// Without these LLVM makes no code for the architecture, and ends the process.
std::string missingBase(const llvm::MCSubtargetInfo &Info, bool IsX86) {
  for (const char *Name : {"64bit", "cmov", "sse2"}) {
    if (IsX86 && !Info.checkFeatures(std::string("+") + Name)) return Name;
  }
  for (const char *Name : {"fp-armv8", "neon"}) {
    if (!IsX86 && !Info.checkFeatures(std::string("+") + Name)) return Name;
  }
  return "";
}

// Returns the error in a target's text (mtlc_target_machine); "" if there is
// none.
std::string targetError(llvm::StringRef Target) {
  llvm::SmallVector<llvm::StringRef, 8> Words;
  Target.split(Words, ' ', -1, /*KeepEmpty=*/false);
  if (Words.empty() || (Words[0] != "x86_64" && Words[0] != "aarch64")) {
    return "it begins with x86_64 or aarch64, a processor and features may "
           "follow";
  }
  const bool IsX86 = Words[0] == "x86_64";
  const Subtarget Any = subtargetOf(Words[0], "", "");
  if (!Any) return "LLVM makes no code for " + Words[0].str();
  std::string CPU = IsX86 ? "x86-64-v2" : "generic", Features;
  for (llvm::StringRef Word : llvm::ArrayRef(Words).drop_front()) {
    if (!isSign(Word)) {
      if (!Any->isCPUStringValid(Word)) {
        return "LLVM knows no " + Words[0].str() + " processor " +
               quoted(Word);
      }
      CPU = Word.str();
      continue;
    }
    llvm::SmallVector<llvm::StringRef, 8> Parts;
    Word.split(Parts, ',');
    for (llvm::StringRef Part : Parts) {
      if (!isSign(Part) || !isFeature(*Any, Part.drop_front())) {
        return "LLVM knows no feature " + quoted(Part) + " of " +
               Words[0].str();
      }
      Features += (Features.empty() ? "" : ",") + Part.str();
    }
  }
  const Subtarget Whole = subtargetOf(Words[0], CPU, Features);
  const std::string Missing = missingBase(*Whole, IsX86);
  return Missing.empty() ? "" : "without the feature " + quoted(Missing) +
                                    " there is no code for " + Words[0].str();
}

}  // namespace

char *mtlc_target_error(const char *target) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64TargetMC();
  const std::string Error = targetError(target);
  return Error.empty() ? nullptr : strdup(Error.c_str());
}
