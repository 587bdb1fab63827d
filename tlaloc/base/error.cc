#include "tlaloc/base/error.h"

#include <utility>

namespace tlaloc {

Error::Error(ErrorInfo info) : info_(std::move(info)) { format(); }

void Error::add_place(const Place& place) {
  if (info_.place.known() || !place.known()) return;
  info_.place = place;
  format();
}

void Error::format() {
  text_.clear();
  if (info_.place.known()) {
    text_ += info_.place.file + ":" + std::to_string(info_.place.line);
    if (info_.place.column > 0) text_ += ":" + std::to_string(info_.place.column);
    text_ += ": ";
  }
  text_ += info_.code;
  if (!info_.op.empty()) text_ += ": " + info_.op;
  text_ += ": " + info_.message;
  if (!info_.hint.empty()) text_ += "; " + info_.hint;
}

InternalError::InternalError(std::string message)
    : Error({.code = "TL-INTERNAL-001",
             .op = "",
             .message = std::move(message),
             .hint = "this is a defect of Tlaloc: please report it",
             .place = {}}) {}

void internal_check(bool condition, const char* message) {
  if (!condition) throw InternalError(message);
}

}  // namespace tlaloc
