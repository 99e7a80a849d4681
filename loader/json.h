// SPDX-License-Identifier: GPL-2.0-only
//
// Writes JSON (RFC 8259) into a buffer that is kept from one document to the next, so that a line an interval allocates
// nothing once the buffer has grown. Commas and quotes are the writer's; the order of the keys is the caller's.

#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

namespace responder {

class JsonWriter {
  public:
    void clear() noexcept {
        buffer_.clear();
        comma_ = false;
    }
    std::string_view text() const noexcept { return {buffer_.data(), buffer_.size()}; }

    void begin_object() { open('{'); }
    void begin_object(std::string_view key) { name(key), open('{'); }
    void end_object() { close('}'); }
    void begin_array(std::string_view key) { name(key), open('['); }
    void end_array() { close(']'); }

    template <class T>
    void member(std::string_view key, const T& value) {
        name(key);
        this->value(value);
    }

    void value(std::string_view text) {
        separate();
        quote(text);
    }
    void value(const char* text) { value(std::string_view(text)); }
    void value(bool b) {
        separate();
        append(b ? "true" : "false");
    }
    template <std::integral T>
    void value(T number) {
        separate();
        fmt::format_to(fmt::appender(buffer_), "{}", number);
    }
    // JSON has no infinity and no NaN: null.
    void value(double number) {
        separate();
        if (std::isfinite(number))
            fmt::format_to(fmt::appender(buffer_), "{}", number);
        else
            append("null");
    }

  private:
    void append(std::string_view text) { buffer_.append(text.data(), text.data() + text.size()); }
    void separate() {
        if (comma_)
            buffer_.push_back(',');
        comma_ = true;
    }
    void name(std::string_view key) {
        separate();
        quote(key);
        buffer_.push_back(':');
        comma_ = false;
    }
    void open(char bracket) {
        separate();
        buffer_.push_back(bracket);
        comma_ = false;
    }
    void close(char bracket) {
        buffer_.push_back(bracket);
        comma_ = true;
    }
    void quote(std::string_view text) {
        buffer_.push_back('"');
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                buffer_.push_back('\\');
                buffer_.push_back(c);
            } else if (static_cast<unsigned char>(c) < 0x20) {
                fmt::format_to(fmt::appender(buffer_), "\\u{:04x}", static_cast<unsigned>(c));
            } else {
                buffer_.push_back(c);
            }
        }
        buffer_.push_back('"');
    }

    fmt::memory_buffer buffer_;
    bool comma_ = false;
};

} // namespace responder
