// SPDX-License-Identifier: GPL-2.0-only
//
// Writes JSON (RFC 8259) into a buffer that is kept from one document to the next, so that a line an interval allocates
// nothing once the buffer has grown. Commas and quotes are the writer's; the order of the keys is the caller's.

#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace responder {

class JsonWriter {
  public:
    // `ascii`: whatever is not ASCII is escaped, for a reader that believes in nothing else.
    explicit JsonWriter(bool ascii = false) noexcept : ascii_(ascii) {}

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
    void value(std::nullptr_t) {
        separate();
        append("null");
    }
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
        while (!text.empty()) {
            const std::size_t length = character_length(text);
            if (length == 0)
                append("\\ufffd"); // no UTF-8, as a file's or an argument's name can be
            else if (text[0] == '"' || text[0] == '\\')
                buffer_.push_back('\\'), buffer_.push_back(text[0]);
            else if (static_cast<unsigned char>(text[0]) < 0x20 || (ascii_ && length > 1))
                escape(text.substr(0, length));
            else
                append(text.substr(0, length));
            text.remove_prefix(length == 0 ? 1 : length);
        }
        buffer_.push_back('"');
    }

    // A character in units of UTF-16 (RFC 8259 section 7).
    void escape(std::string_view character) {
        constexpr unsigned first_of_pairs = 0x10000;
        const auto unit = [&](unsigned code) { fmt::format_to(fmt::appender(buffer_), "\\u{:04x}", code); };
        unsigned point = static_cast<unsigned char>(character[0]);
        if (character.size() > 1)
            point &= 0xffU >> (character.size() + 1);
        for (const char octet : character.substr(1))
            point = point << 6 | (static_cast<unsigned char>(octet) & 0x3fU);
        if (point >= first_of_pairs) {
            point -= first_of_pairs;
            unit(0xd800 + (point >> 10));
            point = 0xdc00 + (point & 0x3ff);
        }
        unit(point);
    }

    // Octets of the UTF-8 character that the text begins with (RFC 3629 section 4); 0 where it begins with none.
    static std::size_t character_length(std::string_view text) noexcept {
        const auto octet = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
        const auto follows = [&](std::size_t i) { return (octet(i) & 0xc0) == 0x80; };
        const unsigned first = octet(0), second = octet(1);
        if (first < 0x80)
            return 1;
        if (first >= 0xc2 && first <= 0xdf && follows(1))
            return 2;
        const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
        const bool beyond =
            (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f); // surrogates, U+110000
        if (overlong || beyond || !follows(1) || !follows(2))
            return 0;
        if (first >= 0xe0 && first <= 0xef)
            return 3;
        return first >= 0xf0 && first <= 0xf4 && follows(3) ? 4 : 0;
    }

    fmt::memory_buffer buffer_;
    bool comma_ = false;
    bool ascii_;
};

} // namespace responder
