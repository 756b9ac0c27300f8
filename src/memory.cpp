// How the allocator is set up: what is free for two seconds goes back to the system, also after a burst that
// is followed by nothing. Read by jemalloc at its start; MALLOC_CONF in the environment goes before it.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf =
    "background_thread:true,max_background_threads:1,dirty_decay_ms:2000,muzzy_decay_ms:0";
}
