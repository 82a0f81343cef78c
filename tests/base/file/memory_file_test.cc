#include "base/file/memory_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"

namespace paceline {
namespace {

TEST(MemoryFile, HasWhatItWasMadeWithAndWhatIsWrittenLater) {
  const MemoryFile file("test", "abc");
  EXPECT_EQ(content_of(file.descriptor(), 100), "abc");
  ASSERT_EQ(::write(file.descriptor(), "def", 3), 3);
  EXPECT_EQ(content_of(file.descriptor(), 100), "abcdef");
  EXPECT_EQ(content_of(file.descriptor(), 4), "abcd");
}

TEST(MemoryFile, IsNoFileWhenItIsClosed) {
  int descriptor = -1;
  {
    const MemoryFile file("test");
    descriptor = file.descriptor();
    EXPECT_EQ(content_of(descriptor, 100), "");
  }
  EXPECT_THROW(content_of(descriptor, 100), DataError);
}

}  // namespace
}  // namespace paceline
