// summary.json as people read it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace paceline {

// Without what names tell already, the roles in order, and a loss that is not finite, for
// which JSON has only null, as such. Throws DataError when a field is not of its type.
nlohmann::json readable_summary(nlohmann::json summary);

}  // namespace paceline
