#pragma once
/*
 * sha1 -- a hash that is no secret any more (collisions are known), and that the
 * handshake of WebSocket is made with all the same.
 */
#include <stddef.h>

enum { AS_SHA1_BYTES = 20 };

void as_sha1(const void *p, size_t n, unsigned char ret[AS_SHA1_BYTES]);
