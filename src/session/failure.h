// An Error on its way to another process: as a part of a message, or as a line of JSON on a
// descriptor that a process was given by the one that started it.
//
// Whatever is read makes an Error, within the limits of one, or nothing; an exit code that is not
// known is that of an internal failure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "session/message.h"
#include "session/protocol.pb.h"

namespace paceline {

wire::Failure failure_of(const Error& error);
Error error_of(const wire::Failure& failure);

// Tells the chief that this role cannot go on, and why: the run ends.
ChiefWord stop_word(const Error& error);

// One line, with its end. Bytes that are not UTF-8 are replaced.
std::string failure_line(const Error& error);
// The first line of `text`; nothing when it has no end, or is something else.
std::optional<Error> read_failure_line(std::string_view text);

// Writes a line to a descriptor. −1: nobody wants to know. What cannot be written is left out.
void tell_failure(int fd, std::string_view line);

}  // namespace paceline
