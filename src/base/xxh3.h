// xxHash's functions by their own names. On x86 the library then chooses the vectors when it runs;
// without this those of 16 bytes, which every such processor has. For long texts: the choice takes
// as long as a short one.
#pragma once

#include <xxhash.h>
#ifdef __x86_64__
#include <xxh_x86dispatch.h>
#endif
