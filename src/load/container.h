#pragma once
/*
 * container -- the first process of a container, by the container's name: asked
 * of the Docker daemon at its unix socket.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define AS_DOCKER_SOCKET "/var/run/docker.sock"

/* `name` may be an id, or the beginning of one. Waits ten seconds at most. */
int as_container_pid(const char *socket, const char *name, int32_t *ret, struct as_err *err);

/* The same of an answer that came: a document about a container. */
int as_container_parse(const char *p, size_t n, const char *name, int32_t *ret, struct as_err *err);
