// The handlers of the operator API's routes. Each answers its call, at once or later.
//
// Threads: on the operators' pool; they may block on the disk.
#pragma once

#include "server/operate/call.h"

namespace baton::server::operate {

// The server and its agents (overview.cpp, agents.cpp, schedules.cpp).
void show_me(const CallPtr& call);
void show_description(const CallPtr& call);
void show_overview(const CallPtr& call);
void list_agents(const CallPtr& call);
void list_schedules(const CallPtr& call);

// Tasks (tasks.cpp, timeline.cpp, trace.cpp).
void list_tasks(const CallPtr& call);
void show_task(const CallPtr& call);
void show_events(const CallPtr& call);
void show_trace(const CallPtr& call);
void show_tree(const CallPtr& call);
void show_run_picture(const CallPtr& call);
void show_plan_picture(const CallPtr& call);

// Actions (actions.cpp).
void cancel_task(const CallPtr& call);
void retry_task(const CallPtr& call);
void answer_task(const CallPtr& call);
void requeue_task(const CallPtr& call);
void resend_delivery(const CallPtr& call);
void skip_delivery(const CallPtr& call);
void pause_agent(const CallPtr& call);
void resume_agent(const CallPtr& call);
void scale_agent(const CallPtr& call);

// API keys (api_keys.cpp).
void list_api_keys(const CallPtr& call);
void create_api_key(const CallPtr& call);
void rotate_api_key(const CallPtr& call);
void revoke_api_key(const CallPtr& call);

// The nodes that share the store (nodes.cpp).
void list_nodes(const CallPtr& call);
void drain_node(const CallPtr& call);

// Deletion (erasures.cpp).
void erase_task(const CallPtr& call);
void erase_context(const CallPtr& call);
void erase_caller(const CallPtr& call);

// gRPC calls for pages (playground.cpp).
void relay_grpc(const CallPtr& call);

// Deliveries, the audit, bulk jobs (records.cpp, bulk.cpp).
void list_deliveries(const CallPtr& call);
void list_audit(const CallPtr& call);
void begin_bulk(const CallPtr& call);
void list_bulk(const CallPtr& call);
void show_bulk(const CallPtr& call);
void confirm_bulk(const CallPtr& call);
void abandon_bulk(const CallPtr& call);

}  // namespace baton::server::operate
