#pragma once
/*
 * tls -- what hides a connection's bytes from others, and proves whom it is with.
 *
 * What does it is OpenSSL, in a module of its own (openssl.c): whoever sends
 * plain requests never loads it. A certificate that cannot be trusted is a
 * failure of its kind, which somebody counts; nothing is asked or printed here.
 *
 * A context is for connections to one place, or for those that one place gets.
 * It belongs to one thread, and keeps what the last server gave it to go on
 * with: so the next handshake of a client is a short one, if the server agrees.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum { AS_TLS_TEXT = 160 };

struct as_tls_config {
	/* of a client */
	const char *host;     /* whose certificate it must be; told to the server, too    */
	const char *ca_file;  /* whom to trust; NULL: those whom the system does          */
	bool insecure;        /* anybody will do                                          */
	bool fresh;           /* each handshake is a whole one                            */
	const char *protocol; /* that is to be spoken ("h2"), told by ALPN; NULL: any     */
	/* of a server; cert NULL: it is none */
	const char *cert, *key;
	/* How bytes go: as in net/socket.h. as_tls_open() sets them. */
	ssize_t (*send)(int fd, const char *p, size_t n);
	ssize_t (*recv)(int fd, char *p, size_t n);
};

/* How far a handshake came. */
enum as_tls_step {
	AS_TLS_DONE,
	AS_TLS_READS,  /* when there is something to read */
	AS_TLS_WRITES, /* when there is room              */
	AS_TLS_FAILED,
};

/* Why it failed. */
enum as_tls_fault {
	AS_TLS_FINE,
	AS_TLS_EXPIRED,  /* or not valid yet */
	AS_TLS_HOST,     /* it is somebody else's certificate */
	AS_TLS_ISSUER,   /* nobody whom we trust says so      */
	AS_TLS_PROTOCOL, /* it does not speak what we want to */
	AS_TLS_NONE,     /* what it says is no TLS            */
	AS_TLS_SYSTEM,   /* the connection failed: `os`       */
	AS_TLS_OTHER,
};

struct as_tls_result {
	enum as_tls_fault fault;
	int os;                 /* errno, or 0 when the other side hung up */
	bool resumed;           /* a short one                             */
	char text[AS_TLS_TEXT]; /* "TLSv1.3, TLS_AES_256_GCM_SHA384", or why not */
};

/* What the module does. */
struct as_tls {
	size_t version; /* AS_TLS_VERSION: the module belongs to this program */
	/* NULL: why says why. */
	void *(*open)(const struct as_tls_config *c, char why[AS_TLS_TEXT]);
	void (*close)(void *context);
	/* One connection. NULL: no memory. */
	void *(*begin)(void *context, int fd);
	/* Until it is done or failed; ret is set then. */
	enum as_tls_step (*handshake)(void *session, struct as_tls_result *ret);
	/* As in net/socket.h. EPROTO: it broke. */
	ssize_t (*send)(void *session, const char *p, size_t n);
	ssize_t (*recv)(void *session, char *p, size_t n);
	/* Something may be there already, of which the kernel will not tell. */
	bool (*pending)(const void *session);
	void (*end)(void *session); /* says so to the other side, if there is room */
};

#define AS_TLS_MODULE "assay-tls.so"
#define AS_TLS_SYMBOL "as_tls_openssl"
#define AS_TLS_VERSION                                                                             \
	(1001 + sizeof(struct as_tls) + sizeof(struct as_tls_config) + sizeof(struct as_tls_result))

/* EUNSUP: this build has none. */
int as_tls_load(const struct as_tls **ret, struct as_err *err);

struct as_tls_context { /* all zeros: none */
	const struct as_tls *by;
	void *context;
};

int as_tls_open(struct as_tls_context *ret, const struct as_tls_config *c, struct as_err *err);
void as_tls_close(struct as_tls_context *t);
