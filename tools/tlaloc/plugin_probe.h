// What a PJRT plugin is and can do, found out by trying it.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace tlaloc::command {

/// version, stablehlo, platform, devices, and lacks: what it can't do, each as a text. What it
/// fails with is its "error".
boost::json::object probe_here(const std::string& path);

/// The same in a process of its own, which may crash, or be stopped after a minute: plugins of
/// devices that are not there do either.
boost::json::object probe_in_child(const std::string& path);

}  // namespace tlaloc::command
