/*
 * openssl -- net/tls.h by OpenSSL.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "net/tls.h"

enum { PROTOCOL_MOST = 32, HOST_MOST = 256 };

struct context {
	SSL_CTX *ssl;
	BIO_METHOD *wire;
	SSL_SESSION *last;                     /* what the server gave to go on with */
	bool server, insecure, fresh, address; /* address: the host is one  */
	char host[HOST_MOST];
	unsigned char protocol[PROTOCOL_MOST]; /* its length before it; 0: any */
	struct as_tls_config how;              /* send and recv of it          */
};

struct session {
	SSL *ssl;
	struct context *of;
	int fd;
	int os; /* errno of the last that failed */
};

/* ── bytes ────────────────────────────────────────────────────────────── */

static int went(BIO *b, struct session *s, ssize_t n, int retry)
{
	BIO_clear_retry_flags(b);
	if (n >= 0)
		return (int)n;
	if (n == -EAGAIN)
		BIO_set_flags(b, retry | BIO_FLAGS_SHOULD_RETRY);
	else
		s->os = (int)-n;
	return -1;
}

static int wire_write(BIO *b, const char *p, int n)
{
	struct session *s = BIO_get_data(b);

	return went(b, s, s->of->how.send(s->fd, p, (size_t)n), BIO_FLAGS_WRITE);
}

static int wire_read(BIO *b, char *p, int n)
{
	struct session *s = BIO_get_data(b);

	return went(b, s, s->of->how.recv(s->fd, p, (size_t)n), BIO_FLAGS_READ);
}

static long wire_control(BIO *b, int what, long n, void *p)
{
	(void)b, (void)n, (void)p;
	return what == BIO_CTRL_FLUSH;
}

static int wire_create(BIO *b)
{
	BIO_set_init(b, 1);
	return 1;
}

static BIO_METHOD *new_wire(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "assay");

	if (!m)
		return NULL;
	(void)BIO_meth_set_write(m, wire_write);
	(void)BIO_meth_set_read(m, wire_read);
	(void)BIO_meth_set_ctrl(m, wire_control);
	(void)BIO_meth_set_create(m, wire_create);
	return m;
}

/* ── a context ────────────────────────────────────────────────────────── */

static const char *reason(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	return text ? text : "no reason given";
}

/* The newest is the one to go on with; it is ours from now on. */
static int keep_session(SSL *ssl, SSL_SESSION *given)
{
	struct context *c = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	SSL_SESSION_free(c->last);
	c->last = given;
	return 1;
}

/* Of what a client offers, what we speak; one that offers only something else is refused. */
static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
			   const unsigned char *offered, unsigned n, void *arg)
{
	const struct context *c = arg;
	unsigned char *chosen = NULL;

	(void)ssl;
	if (!c->protocol[0])
		return SSL_TLSEXT_ERR_NOACK;
	if (SSL_select_next_proto(&chosen, ret_len, c->protocol, c->protocol[0] + 1U, offered, n) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*ret = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static bool be_server(struct context *c, const struct as_tls_config *how, char why[AS_TLS_TEXT])
{
	SSL_CTX_set_alpn_select_cb(c->ssl, choose_protocol, c);
	if (SSL_CTX_use_certificate_chain_file(c->ssl, how->cert) != 1) {
		(void)snprintf(why, AS_TLS_TEXT, "no certificate in '%.80s': %.50s", how->cert,
			       reason());
		return false;
	}
	if (SSL_CTX_use_PrivateKey_file(c->ssl, how->key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(c->ssl) != 1) {
		(void)snprintf(why, AS_TLS_TEXT, "no key of that certificate in '%.60s': %.50s",
			       how->key, reason());
		return false;
	}
	return true;
}

static bool trust(struct context *c, const char *ca_file, char why[AS_TLS_TEXT])
{
	bool fine = ca_file ? SSL_CTX_load_verify_locations(c->ssl, ca_file, NULL) == 1
			    : SSL_CTX_set_default_verify_paths(c->ssl) == 1;

	if (!fine)
		(void)snprintf(why, AS_TLS_TEXT, "no certificates in '%.80s': %.50s",
			       ca_file ? ca_file : "the system's folder", reason());
	return fine;
}

static bool be_client(struct context *c, const struct as_tls_config *how, char why[AS_TLS_TEXT])
{
	struct in6_addr any;

	c->address =
		inet_pton(AF_INET, c->host, &any) == 1 || inet_pton(AF_INET6, c->host, &any) == 1;
	SSL_CTX_set_verify(c->ssl, c->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	(void)SSL_CTX_set_session_cache_mode(c->ssl,
					     SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(c->ssl, keep_session);
	if (c->protocol[0] && SSL_CTX_set_alpn_protos(c->ssl, c->protocol, c->protocol[0] + 1U)) {
		(void)snprintf(why, AS_TLS_TEXT, "no memory");
		return false;
	}
	return c->insecure || trust(c, how->ca_file, why);
}

static void set_texts(struct context *c, const struct as_tls_config *how)
{
	size_t n = how->protocol ? strlen(how->protocol) : 0;

	(void)snprintf(c->host, sizeof c->host, "%s", how->host ? how->host : "");
	if (!n || n >= sizeof c->protocol)
		return;
	c->protocol[0] = (unsigned char)n;
	memcpy(c->protocol + 1, how->protocol, n);
}

static void close_context(void *context)
{
	struct context *c = context;

	SSL_SESSION_free(c->last);
	SSL_CTX_free(c->ssl);
	BIO_meth_free(c->wire);
	OPENSSL_free(c);
}

static void *open_context(const struct as_tls_config *how, char why[AS_TLS_TEXT])
{
	struct context *c = OPENSSL_zalloc(sizeof *c);

	ERR_clear_error();
	(void)snprintf(why, AS_TLS_TEXT, "no memory");
	if (!c)
		return NULL;
	c->server = how->cert;
	c->insecure = how->insecure;
	c->fresh = how->fresh;
	c->how = *how;
	set_texts(c, how);
	c->wire = new_wire();
	c->ssl = SSL_CTX_new(c->server ? TLS_server_method() : TLS_client_method());
	bool fine = c->wire && c->ssl && SSL_CTX_set_app_data(c->ssl, c) == 1 &&
		    SSL_CTX_set_min_proto_version(c->ssl, TLS1_2_VERSION) == 1;
	if (fine)
		fine = c->server ? be_server(c, how, why) : be_client(c, how, why);
	if (fine)
		return c;
	close_context(c);
	return NULL;
}

/* ── a session ────────────────────────────────────────────────────────── */

static void end_session(void *session)
{
	struct session *s = session;

	ERR_clear_error();
	if (s->ssl && SSL_is_init_finished(s->ssl))
		(void)SSL_shutdown(s->ssl);
	ERR_clear_error();
	SSL_free(s->ssl);
	OPENSSL_free(s);
}

/* Whom it must be with, and what to go on with. */
static bool set_peer(struct session *s)
{
	struct context *c = s->of; /* OpenSSL's macro casts const away */
	X509_VERIFY_PARAM *p = SSL_get0_param(s->ssl);

	if (c->address && X509_VERIFY_PARAM_set1_ip_asc(p, c->host) != 1)
		return false;
	if (!c->address &&
	    (SSL_set1_host(s->ssl, c->host) != 1 || SSL_set_tlsext_host_name(s->ssl, c->host) != 1))
		return false;
	if (c->last && !c->fresh)
		(void)SSL_set_session(s->ssl, c->last); /* one that is too old is left out */
	SSL_set_connect_state(s->ssl);
	return true;
}

static bool set_up(struct session *s)
{
	BIO *b = BIO_new(s->of->wire);

	if (!b)
		return false;
	BIO_set_data(b, s);
	SSL_set_bio(s->ssl, b, b);
	SSL_set_read_ahead(s->ssl, 1);
	(void)SSL_set_mode(s->ssl,
			   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	(void)SSL_set_options(s->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	if (!s->of->server)
		return set_peer(s);
	SSL_set_accept_state(s->ssl);
	return true;
}

static void *begin_session(void *context, int fd)
{
	struct context *c = context;
	struct session *s = OPENSSL_zalloc(sizeof *s);

	ERR_clear_error();
	if (!s)
		return NULL;
	s->of = c;
	s->fd = fd;
	s->ssl = SSL_new(c->ssl);
	if (s->ssl && set_up(s))
		return s;
	end_session(s);
	return NULL;
}

/* ── the handshake ────────────────────────────────────────────────────── */

static const struct {
	long code;
	enum as_tls_fault fault;
} faults[] = {
	{X509_V_ERR_CERT_HAS_EXPIRED, AS_TLS_EXPIRED},
	{X509_V_ERR_CERT_NOT_YET_VALID, AS_TLS_EXPIRED},
	{X509_V_ERR_HOSTNAME_MISMATCH, AS_TLS_HOST},
	{X509_V_ERR_IP_ADDRESS_MISMATCH, AS_TLS_HOST},
	{X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, AS_TLS_ISSUER},
	{X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, AS_TLS_ISSUER},
	{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, AS_TLS_ISSUER},
	{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, AS_TLS_ISSUER},
	{X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, AS_TLS_ISSUER},
	{X509_V_ERR_CERT_UNTRUSTED, AS_TLS_ISSUER},
};

static enum as_tls_fault fault_of_certificate(const struct session *s, struct as_tls_result *ret)
{
	long code = SSL_get_verify_result(s->ssl);

	(void)snprintf(ret->text, sizeof ret->text, "%s", X509_verify_cert_error_string(code));
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		if (faults[i].code == code)
			return faults[i].fault;
	return AS_TLS_OTHER;
}

/* What OpenSSL calls so has no record of TLS at its beginning: somebody speaks clear text. */
static bool is_no_tls(int code)
{
	return code == SSL_R_WRONG_VERSION_NUMBER || code == SSL_R_HTTP_REQUEST;
}

static void say_no_tls(struct as_tls_result *ret)
{
	ret->fault = AS_TLS_NONE;
	(void)snprintf(ret->text, sizeof ret->text, "the server answered without TLS");
}

static enum as_tls_step failed(const struct session *s, int how, struct as_tls_result *ret)
{
	int code = ERR_GET_REASON(ERR_peek_error());

	ret->os = s->os;
	(void)snprintf(ret->text, sizeof ret->text, "%s",
		       how == SSL_ERROR_SSL ? reason() : "the server hung up: does it speak TLS?");
	if (how != SSL_ERROR_SSL)
		ret->fault = AS_TLS_SYSTEM;
	else if (code == SSL_R_CERTIFICATE_VERIFY_FAILED)
		ret->fault = fault_of_certificate(s, ret);
	else if (code == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL ||
		 code == SSL_R_NO_APPLICATION_PROTOCOL)
		ret->fault = AS_TLS_PROTOCOL;
	else if (is_no_tls(code))
		say_no_tls(ret);
	else
		ret->fault = AS_TLS_OTHER;
	return AS_TLS_FAILED;
}

/* A server that knows nothing of ALPN speaks HTTP/1.1, and nothing else. */
static bool is_agreed(const struct session *s)
{
	static const char usual[] = "http/1.1";
	const struct context *c = s->of;
	const unsigned char *p = NULL;
	unsigned n = 0;

	SSL_get0_alpn_selected(s->ssl, &p, &n);
	if (c->server || !c->protocol[0])
		return true;
	if (!n)
		return !strcmp((const char *)c->protocol + 1, usual);
	return n == c->protocol[0] && !memcmp(p, c->protocol + 1, n);
}

static enum as_tls_step done(const struct session *s, struct as_tls_result *ret)
{
	ret->resumed = SSL_session_reused(s->ssl);
	(void)snprintf(ret->text, sizeof ret->text, "%s, %s", SSL_get_version(s->ssl),
		       SSL_get_cipher_name(s->ssl));
	if (is_agreed(s))
		return AS_TLS_DONE;
	ret->fault = AS_TLS_PROTOCOL;
	return AS_TLS_FAILED;
}

static enum as_tls_step handshake(void *session, struct as_tls_result *ret)
{
	struct session *s = session;

	*ret = (struct as_tls_result){0};
	ERR_clear_error();
	s->os = 0;
	int r = SSL_do_handshake(s->ssl);
	if (r == 1)
		return done(s, ret);
	int how = SSL_get_error(s->ssl, r);
	if (how == SSL_ERROR_WANT_READ)
		return AS_TLS_READS;
	return how == SSL_ERROR_WANT_WRITE ? AS_TLS_WRITES : failed(s, how, ret);
}

/* ── bytes of others ──────────────────────────────────────────────────── */

/* What a call that moved nothing means. */
static ssize_t nothing(const struct session *s, int r)
{
	int how = SSL_get_error(s->ssl, r);

	if (how == SSL_ERROR_WANT_READ || how == SSL_ERROR_WANT_WRITE)
		return -EAGAIN;
	if (how == SSL_ERROR_ZERO_RETURN)
		return 0;
	return how == SSL_ERROR_SYSCALL ? -s->os : -EPROTO;
}

static int at_most(size_t n)
{
	return n < INT_MAX ? (int)n : INT_MAX;
}

static ssize_t send_some(void *session, const char *p, size_t n)
{
	struct session *s = session;

	ERR_clear_error();
	s->os = EPROTO;
	int r = SSL_write(s->ssl, p, at_most(n));
	return r > 0 ? r : nothing(s, r);
}

static ssize_t recv_some(void *session, char *p, size_t n)
{
	struct session *s = session;

	ERR_clear_error();
	s->os = 0; /* an end that nobody announced is one all the same */
	int r = SSL_read(s->ssl, p, at_most(n));
	return r > 0 ? r : nothing(s, r);
}

static bool pending(const void *session)
{
	return SSL_has_pending(((const struct session *)session)->ssl);
}

extern const struct as_tls as_tls_openssl;
const struct as_tls as_tls_openssl = {
	.version = AS_TLS_VERSION,
	.open = open_context,
	.close = close_context,
	.begin = begin_session,
	.handshake = handshake,
	.send = send_some,
	.recv = recv_some,
	.pending = pending,
	.end = end_session,
};
