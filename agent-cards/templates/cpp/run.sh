#!/bin/sh
# Builds the agent if its source is newer, and runs it.
set -e
if [ ! -x agent ] || [ agent.cpp -nt agent ] || [ lines.h -nt agent ]; then
  "${CXX:-c++}" -std=c++20 -O2 -pthread -o agent.new agent.cpp >&2
  mv agent.new agent
fi
exec ./agent
