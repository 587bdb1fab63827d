// What IREE can't do, by op, as its compiler and its runtime say; docs/iree.md has it as a list.
#pragma once

#include <map>
#include <string>

namespace tlaloc::iree {

/// Ops some of whose cases can't be compiled or have other results, and why.
inline const std::map<std::string, std::string> kCantDo{
    {"atan2", "the sign of a zero is not looked at"},
    {"custom_call", "StableHLO can't say it: its code is on the host"},
    {"debug_print", "StableHLO can't say it: nothing prints on a device"},
    {"triangular_solve", "its compiler does not know the operation"},
};

/// How far it may be off beyond what every back end may, in units of the last place.
inline const std::map<std::string, double> kUlps{{"cbrt", 8}, {"sin", 128}};

}  // namespace tlaloc::iree
