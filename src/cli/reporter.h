#pragma once

#include "observe/reporter.h"
