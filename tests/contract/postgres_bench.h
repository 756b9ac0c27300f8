// PostgresBench: a PostgresStore in its own schema, on the server at the URL in BATON_TEST_POSTGRES. That
// server may have fsync=off, which is faster.
#pragma once

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "base/id.h"
#include "contract/store_bench.h"
#include "store/postgres/lane/link.h"
#include "store/postgres/postgres_store.h"
#include "support/patience.h"
#include "support/tcp_gate.h"

namespace baton::test {

// Waits for the text that a callback reports. Empty if it does not come in time.
inline std::string heard(std::promise<std::string>& told) {
  auto what = told.get_future();
  return what.wait_for(patience()) == std::future_status::ready ? what.get() : "";
}

// A new schema, dropped with its content by the destructor.
class Schema {
 public:
  Schema() : name_("test_" + base::random_hex(6)) { ask("CREATE SCHEMA " + name_); }
  ~Schema() {
    try {
      ask("SET client_min_messages = error; DROP SCHEMA " + name_ + " CASCADE");
    } catch (const store::sql::Failure& failure) {
      MESSAGE("the schema ", name_, " stays: ", failure.what());
    }
  }
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  std::string url() const {
    const std::string server = server_url();
    return server + (server.find('?') == std::string::npos ? "?" : "&") + "options=-csearch_path%3D" + name_;
  }
  // Runs statements in this schema, and returns the first value of the last one's result.
  std::string ask(const std::string& sql) const {
    // All schemas share one connection, because connecting takes longer than most statements.
    static std::unique_ptr<store::postgres::Link> link;
    static std::mutex is_asking;
    std::lock_guard lock(is_asking);
    if (!link || link->is_lost()) link = connected();
    link->ask("SET search_path = " + name_);
    std::string answer;
    for (std::size_t at = 0; at < sql.size();) {
      const std::size_t end = std::min(sql.find("; ", at), sql.size());
      answer = link->ask_text(sql.substr(at, end - at));
      at = end + 2;
    }
    return answer;
  }

 private:
  static std::unique_ptr<store::postgres::Link> connected() {
    const auto address = store::postgres::Address::read(server_url());
    REQUIRE(address);
    return std::make_unique<store::postgres::Link>(*address);
  }
  static std::string server_url() {
    const char* url = std::getenv("BATON_TEST_POSTGRES");
    if (url == nullptr) FAIL("BATON_TEST_POSTGRES names no server: postgresql://user@host:port/database");
    return url;
  }

  const std::string name_;
};

class PostgresBench : public StoreBench {
 public:
  explicit PostgresBench(base::Duration send_retention = std::chrono::hours(24)) {
    settings.send_retention = send_retention;
    settings.url = schema.url();
    settings.allows = {"fsync=off"};
    settings.readers = 1;  // because connecting is slow
    open();
  }

  void open() {
    auto opened = store::PostgresStore::open(settings, clock);
    succeed(opened);
    store_ = std::move(*opened);
    use(*store_);
  }
  void close() {
    rows.clear();
    store_.reset();
  }
  void reopen() override {
    close();
    open();
  }
  const store::PostgresStore& store() const { return *store_; }

  const Schema schema;
  store::PostgresOptions settings;

 private:
  std::unique_ptr<store::PostgresStore> store_;
};

// The lease of a store, which no delay of a slow machine may exceed.
inline std::chrono::milliseconds long_lease() {
  return patience() / 12;
}

// A store whose connections go through a gate. Several benches may share a schema.
class GatedBench : public StoreBench {
 public:
  GatedBench() : GatedBench(std::make_shared<Schema>()) {}
  explicit GatedBench(std::shared_ptr<const Schema> in, std::chrono::milliseconds lease = long_lease())
      : schema_(std::move(in)), schema(*schema_), gate(port_of(schema.url())) {
    settings.url = schema.url();
    settings.url.replace(settings.url.find(address()), address().size(),
                         "@127.0.0.1:" + std::to_string(gate.port()));
    settings.allows = {"fsync=off"};
    settings.on_lost = [](const std::string&) {};
    settings.readers = 1;
    settings.lease = lease;
    open();
  }
  // The statements at the store's end must pass the gate.
  ~GatedBench() override { gate.freeze(false); }

  void open() {
    auto opened = store::PostgresStore::open(settings, clock);
    succeed(opened);
    store = std::move(*opened);
    use(*store);
  }

  // Returns the number of rows of a table, over another connection.
  std::string count(const std::string& table) const { return schema.ask("SELECT count(*) FROM " + table); }

 private:
  std::string address() const { return "@127.0.0.1:" + std::to_string(port_of(schema.url())); }
  static int port_of(const std::string& url) {
    const auto at = url.find("@127.0.0.1:");
    if (at == std::string::npos) FAIL("BATON_TEST_POSTGRES must be postgresql://...@127.0.0.1:port/...");
    return std::stoi(url.substr(at + 11));
  }

  const std::shared_ptr<const Schema> schema_;

 public:
  const Schema& schema;
  TcpGate gate;
  store::PostgresOptions settings;
  std::unique_ptr<store::PostgresStore> store;
};

}  // namespace baton::test

TYPE_TO_STRING(baton::test::PostgresBench);
