// SPDX-License-Identifier: GPL-2.0-only
//
// What every benchmark gives: a table of figures, which is printed for people and written as JSON from the same data.

#pragma once

#include "loader/json.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace responder::bench {

constexpr double no_figure = NAN; // null in JSON

struct Column {
    std::string key;   // in JSON; with the unit: "median_ns"
    std::string title; // for people
    int decimals = 0;
    std::optional<double> at_most = {}, at_least = {}; // what the project demands; a figure beyond it is marked
};

struct Row {
    std::string key, title;
    std::vector<double> figures; // one a column
    bool has_limit = true;       // the columns' demands are for this row
};

struct Table {
    std::string key, title;
    std::string note; // what was measured, and on what, in a sentence or two
    std::vector<Column> columns;
    std::vector<Row> rows;
};

double median(std::vector<double> values);

// The kernel gives whole nanoseconds. What disturbs a batch only makes it longer, so the mean of the shorter half is
// steadier than the median, and finer.
double mean_of_shorter_half(std::vector<double> values);

// Figures that miss their demand.
unsigned misses(const Table& table);

void print(std::FILE* out, const Table& table);
void write(JsonWriter& json, const Table& table);

} // namespace responder::bench
