// An Error on its way to another process, as a part of a message.
//
// Whatever is read makes an Error, within the limits of one; an exit code that is not known is that
// of an internal failure.
#pragma once

#include "base/error.h"
#include "session/message.h"
#include "session/protocol.pb.h"

namespace paceline {

wire::Failure failure_of(const Error& error);
Error error_of(const wire::Failure& failure);

// Tells the chief that this role cannot go on, and why: the run ends.
ChiefWord stop_word(const Error& error);

}  // namespace paceline
