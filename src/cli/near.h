#pragma once
/*
 * near -- nobody fires at somebody else's server by a slip of the keyboard.
 */
#include "net/address.h"

/* All are on this machine or in a private network, or their owner agrees: --yes. */
int as_check_near(const struct as_addresses *to, bool yes, struct as_err *err);
