#pragma once
/*
 * socket -- connections that never block: each call does what it can at once.
 *
 * Errors are numbers of errno, for whoever counts them by kind; nothing is
 * said in words here. Every call is one system call and counted (base/calls.h).
 */
#include <stddef.h>
#include <sys/types.h>

#include "net/address.h"

/* 0: connected, EINPROGRESS: not yet (writable when it is known), else why not. */
int as_dial(const struct as_address *to, int *ret_fd);
int as_dialled(int fd); /* how that ended: 0 or an errno */

/* Listening there; `to` becomes the address with the port that was given. */
int as_listen(struct as_address *at, int *ret_fd, struct as_err *err);
int as_accept(int listener, int *ret_fd); /* 0, EAGAIN, or an errno */

/* Bytes, or -errno; of nobody's interest is a signal. recv: 0 is the end. */
ssize_t as_send(int fd, const char *p, size_t n);
ssize_t as_recv(int fd, char *p, size_t n);

void as_hang_up(int fd);    /* close it as usual                        */
void as_cut_off(int fd);    /* so that the other side sees a reset      */
void as_shut_write(int fd); /* nothing more will come from us          */
