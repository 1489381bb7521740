#include "cli/near.h"

int as_check_near(const struct as_addresses *to, bool yes, struct as_err *err)
{
	for (size_t i = 0; i < to->n && !yes; i++) {
		if (as_address_is_near(&to->at[i]))
			continue;
		(void)as_fail(err, AS_EUSAGE,
			      "%s is neither on this machine nor in a private network",
			      to->at[i].text);
		return as_hint(err, "with its owner's consent: --yes");
	}
	return AS_OK;
}
