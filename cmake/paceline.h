// What a model of one's own needs: see examples/own_model.
#pragma once

#include "base/random.h"
#include "cli/main.h"
#include "data/dataset.h"
#include "model/model.h"
#include "model/registry.h"
