// The setting `db` as text: a SQLite file, ":memory:", or the URL of a PostgreSQL database
// ("postgresql://user:password@host:5432/database?sslmode=verify-full"), which may hold secrets.
//
// Threads: everything here is pure.
#pragma once

#include <string>
#include <string_view>

namespace baton::app {

bool is_postgres(std::string_view database);

// Whether it is a URL with a password, after the user's name or as a parameter.
bool holds_password(std::string_view database);

// As anybody may see it: with *** for each password, and nothing but its scheme if it is a URL that cannot
// be read, as any part of it may then be a secret.
std::string shown_database(std::string_view database);

// What is wrong with it, without showing any of it; empty: nothing. libpq's own messages quote what they
// cannot read, so it must not get to see such a URL.
std::string database_problem(std::string_view database);

}  // namespace baton::app
