// AgentRows: the present state of the agents, for one answer.
//
// Threads: one. `read` blocks on the disk.
#pragma once

#include <map>
#include <string>

#include "json/writer.h"
#include "server/operate/call.h"

namespace baton::server::operate {

class AgentRows {
 public:
  static base::Result<AgentRows> read(const Facts& facts);

  void write(json::Writer& out, const agents::Agent& agent) const;

 private:
  const agents::Agent* default_ = nullptr;
  std::map<std::string, store::AgentControl> controls_;
  std::map<std::string, engine::AgentTurns> turns_;
};

}  // namespace baton::server::operate
