// Custom calls of programs on a plugin, which run functions of this process.
#pragma once

namespace tlaloc::plugins {

class Client;

/// Whether programs of the client may call what register_custom_call registers, as modules say it
/// with EmitOptions::host_calls: its devices are this machine's processors, and the plugin takes
/// handlers. A call runs on a thread of the plugin, with copies of its arguments.
bool takes_host_calls(const Client& client);

}  // namespace tlaloc::plugins
