/* What caches of names hold: nscd's table, systemd-resolved's dump, /etc/hosts: any bytes. */
#include <stddef.h>
#include <stdint.h>

#include "os/hosts.h"
#include "os/nscd.h"
#include "os/resolved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct as_sock_addr addresses[] = {
		{.ip = {127, 0, 0, 7}, .version = 4},
		{.ip = {[15] = 1}, .version = 6},
	};
	const char *text = (const char *)data;
	char name[32];

	for (size_t i = 0; i < 2; i++) {
		(void)as_nscd_find(text, size, &addresses[i], name, sizeof name);
		(void)as_resolved_find(text, size, &addresses[i], name, sizeof name);
		(void)as_hosts_find(text, size, &addresses[i], name, sizeof name);
	}
	return 0;
}
