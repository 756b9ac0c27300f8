// The setting `db` as text: a SQLite file, ":memory:", or the URL of a PostgreSQL database
// ("postgresql://user:password@host:5432/database?sslmode=verify-full"), which may hold secrets.
//
// Threads: any; all functions are pure.
#pragma once

#include <string>
#include <string_view>

namespace baton::app {

bool is_postgres(std::string_view database);

// Returns true for a URL with a password, after the user's name or as a parameter.
bool holds_password(std::string_view database);

// Returns a form without secrets: *** replaces each password. A URL that cannot be parsed is reduced to its
// scheme, because any part of it may be a secret.
std::string shown_database(std::string_view database);

// Returns why the setting is invalid, without quoting any of it; empty if it is valid. Invalid URLs must not
// be passed to libpq, whose messages quote the text that they reject.
std::string database_problem(std::string_view database);

}  // namespace baton::app
