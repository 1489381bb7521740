#pragma once
/*
 * netdev -- /proc/PID/net/dev: the interfaces of a network namespace.
 */
#include "os/text.h"

struct as_netdev {
	char name[32];
	int64_t received_bytes, received_packets;
	int64_t sent_bytes, sent_packets;
	int64_t errors, drops; /* both ways */
};

/*
 * The next line at the front of the text that is an interface; lines before it
 * that are none (the heads) are passed over. How many bytes all of that takes;
 * 0: there is no more. A line that is cut off is none.
 */
size_t as_parse_netdev(const char *p, size_t n, struct as_netdev *ret);
