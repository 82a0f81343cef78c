// What a model of one's own needs: see examples/own_model.
#pragma once

#include "base/random.h"
#include "cli/commands/main.h"
#include "data/dataset.h"
#include "model/catalogue/registry.h"
#include "model/model.h"
