// SPDX-License-Identifier: GPL-2.0-only

#include "tests/bench/table.h"

#include <algorithm>
#include <numeric>

namespace responder::bench {

namespace {

bool misses(const Column& column, const Row& row, double figure) {
    return row.has_limit &&
           ((column.at_most && figure > *column.at_most) || (column.at_least && figure < *column.at_least));
}

std::string text(const Column& column, const Row& row, double figure) {
    if (std::isnan(figure))
        return "-";
    return fmt::format("{:.{}f}{}", figure, column.decimals, misses(column, row, figure) ? " !" : "");
}

std::string demand(const Column& column) {
    if (column.at_most)
        return fmt::format("{}: at most {}", column.title, *column.at_most);
    return fmt::format("{}: at least {}", column.title, *column.at_least);
}

} // namespace

double mean_of_shorter_half(std::vector<double> values) {
    std::ranges::sort(values);
    values.resize((values.size() + 1) / 2);
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

unsigned misses(const Table& table) {
    unsigned count = 0;
    for (const Row& row : table.rows)
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            count += misses(table.columns[i], row, row.figures.at(i));
    return count;
}

void print(std::FILE* out, const Table& table) {
    std::size_t title_width = 0;
    for (const Row& row : table.rows)
        title_width = std::max(title_width, row.title.size());
    fmt::print(out, "{}\n{}\n", table.title, table.note);
    for (const Column& column : table.columns)
        if (column.at_most || column.at_least)
            fmt::print(out, "Demanded: {}; a figure that misses it is marked !.\n", demand(column));

    std::vector<std::size_t> widths;
    fmt::print(out, "\n{:{}}", "", title_width);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        std::size_t width = table.columns[i].title.size();
        for (const Row& row : table.rows)
            width = std::max(width, text(table.columns[i], row, row.figures.at(i)).size());
        widths.push_back(width);
        fmt::print(out, "  {:>{}}", table.columns[i].title, width);
    }
    fmt::print(out, "\n");
    for (const Row& row : table.rows) {
        fmt::print(out, "{:{}}", row.title, title_width);
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            fmt::print(out, "  {:>{}}", text(table.columns[i], row, row.figures.at(i)), widths[i]);
        fmt::print(out, "\n");
    }
    fmt::print(out, "\n");
}

void write(JsonWriter& json, const Table& table) {
    json.begin_object();
    json.member("key", table.key);
    json.member("title", table.title);
    json.member("note", table.note);
    json.begin_object("demands");
    for (const Column& column : table.columns) {
        if (column.at_most)
            json.member(column.key + "_at_most", *column.at_most);
        if (column.at_least)
            json.member(column.key + "_at_least", *column.at_least);
    }
    json.end_object();
    json.begin_array("rows");
    for (const Row& row : table.rows) {
        json.begin_object();
        json.member("key", row.key);
        json.member("title", row.title);
        json.member("demanded", row.has_limit);
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            json.member(table.columns[i].key, row.figures.at(i));
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

} // namespace responder::bench
