#pragma once
/*
 * connect -- to the collector's socket and back with the two mappings, leaving
 * no descriptor behind. In a forked child they are not there.
 *
 * A process that is left while it runs keeps their addresses, with nothing behind
 * them, for the next time.
 */
#include "preload/guest.h"

/*
 * False: nobody is there, or it is not what we know. The mappings are put where
 * *session and *heap say, if they do.
 */
bool as_connect(const char *path, uint32_t pid, uint32_t parent, struct as_wire_session **session,
		struct as_wire_heap **heap);
void as_disconnect(struct as_wire_session *session, struct as_wire_heap *heap);
