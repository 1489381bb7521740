/*
 * Names are told in any order, each with what it is:
 *
 *	1 node     i64 key, turned left by 2, less that of the node before; u64 how far
 *	           back its caller is
 *	2 code     text name, text file, u64 lines, and 16 if it is a coroutine, i64 first
 *	           line, u64 bytes, line table
 *	3 module   u64 number, text path, text build id, u64 start, end, bias, from, until
 *	4 thread   u64 number, u64 tid, text name
 *	5 symbol   i64 address less that of the symbol before, u64 node, u64 depth,
 *	           text function, text file, i64 line
 *
 * Modules and threads may be told again, when more is known of them.
 */
#include <string.h>

#include "base/fault.h"
#include "base/index.h"
#include "heap/parts.h"

enum name { NODE = 1, CODE, MODULE, THREAD, SYMBOL };

enum { LINES = 15, COROUTINE = 16 };

void as_names_told_done(struct as_names_told *t)
{
	free(t->module);
	free(t->thread);
	t->module = t->thread = NULL;
}

/* --- writing -------------------------------------------------------------- */

/* What is in the top bits, what kind of key it is, comes to the lowest. */
static uint64_t turned(uint64_t key)
{
	return key << 2 | key >> 62;
}

static uint64_t turned_back(uint64_t key)
{
	return key >> 2 | key << 62;
}

static void put_node(struct as_buf *b, struct as_names_told *t, const struct as_heap_names *n)
{
	const struct as_heap_node *node = &n->node[t->nodes];
	uint64_t key = turned(node->key);

	as_enc_u64(b, NODE);
	as_enc_i64(b, (int64_t)(key - t->key));
	as_enc_u64(b, t->nodes - node->caller);
	t->key = key;
	t->nodes++;
}

static void put_code(struct as_buf *b, const struct as_heap_code *c)
{
	as_enc_u64(b, CODE);
	as_enc_text(b, c->name);
	as_enc_text(b, c->file);
	as_enc_u64(b, (c->lines & LINES) | (c->coroutine ? COROUTINE : 0));
	as_enc_i64(b, c->first_line);
	as_enc_u64(b, c->ntable);
	as_buf_add(b, c->table, c->ntable);
}

static void put_module(struct as_buf *b, const struct as_heap_module *m, size_t number)
{
	as_enc_u64(b, MODULE);
	as_enc_u64(b, number);
	as_enc_text(b, m->path);
	as_enc_text(b, m->build_id);
	as_enc_u64(b, m->start);
	as_enc_u64(b, m->end);
	as_enc_u64(b, m->bias);
	as_enc_u64(b, m->from);
	as_enc_u64(b, m->until);
}

static void put_thread(struct as_buf *b, const struct as_heap_thread *t, size_t number)
{
	as_enc_u64(b, THREAD);
	as_enc_u64(b, number);
	as_enc_u64(b, t->tid);
	as_enc_text(b, t->name);
}

static void put_symbol(struct as_buf *b, const struct as_heap_symbol *s, uint64_t before)
{
	as_enc_u64(b, SYMBOL);
	as_enc_i64(b, (int64_t)(s->address - before));
	as_enc_u64(b, s->node);
	as_enc_u64(b, s->depth);
	as_enc_text(b, s->function);
	as_enc_text(b, s->file);
	as_enc_i64(b, s->line);
}

/*
 * What was appended to `b` since `at` is told of number i: it stays there when
 * that was not told before, and is taken back otherwise.
 */
static void tell_once(struct as_buf *b, size_t at, uint32_t **told, size_t *n, size_t *cap,
		      size_t i)
{
	if (b->bad)
		return;
	uint32_t hash = as_hash(1, b->p + at, b->len - at);

	if (i < *n && (*told)[i] == hash) {
		b->len = at;
		return;
	}
	if (!as_grow(told, cap, i, sizeof **told, 16)) {
		b->bad = true;
		return;
	}
	(*told)[i] = hash;
	if (i == *n)
		(*n)++;
}

/* Few, and they change: looked at each time. */
static void put_few(struct as_buf *b, struct as_names_told *t, const struct as_heap_names *n)
{
	for (size_t i = 0; i < n->nmodules && !b->bad; i++) {
		size_t at = b->len;

		put_module(b, &n->module[i], i);
		tell_once(b, at, &t->module, &t->modules, &t->module_cap, i);
	}
	for (size_t i = 0; i < n->nthreads && !b->bad; i++) {
		size_t at = b->len;

		put_thread(b, &n->thread[i], i);
		tell_once(b, at, &t->thread, &t->threads, &t->thread_cap, i);
	}
}

static bool all_told(const struct as_names_told *t, const struct as_heap_names *n)
{
	return t->nodes >= n->nnodes && t->codes >= n->ncodes && t->symbols >= n->nsymbols;
}

bool as_enc_names(struct as_buf *b, struct as_names_told *t, const struct as_heap_names *n,
		  size_t enough)
{
	uint64_t address = 0;

	t->key = 0;
	put_few(b, t, n);
	while (t->codes < n->ncodes && b->len < enough && !b->bad)
		put_code(b, &n->code[t->codes++]);
	while (t->nodes < n->nnodes && b->len < enough && !b->bad)
		put_node(b, t, n);
	while (t->symbols < n->nsymbols && b->len < enough && !b->bad) {
		const struct as_heap_symbol *s = &n->symbol[t->symbols++];

		put_symbol(b, s, address);
		address = s->address;
	}
	return !b->bad && !all_told(t, n);
}

/* --- reading -------------------------------------------------------------- */

static bool room(struct as_bytes *b, void *array, size_t *cap, size_t n, size_t size)
{
	if (as_grow(array, cap, n, size, 64))
		return true;
	b->nomem = b->bad = true;
	return false;
}

static void get_node(struct as_bytes *b, struct as_heap_names *n, uint64_t *key)
{
	if (!room(b, &n->node, &n->node_cap, n->nnodes, sizeof *n->node))
		return;
	struct as_heap_node *node = &n->node[n->nnodes];

	*key += (uint64_t)as_dec_i64(b);
	uint64_t back = as_dec_below(b, (uint64_t)n->nnodes + 1);
	if (!back && n->nnodes)
		b->bad = true; /* its own caller; only the empty stack is that */
	*node = (struct as_heap_node){turned_back(*key), (uint32_t)(n->nnodes - back)};
	n->nnodes += !b->bad;
}

static void get_table(struct as_bytes *b, struct as_heap_code *c)
{
	size_t bytes = as_dec_count(b, 1);
	struct as_bytes table = as_dec_piece(b, bytes);

	if (b->bad || !bytes)
		return;
	c->table = as_zalloc(bytes);
	if (!c->table) {
		b->nomem = b->bad = true;
		return;
	}
	memcpy(c->table, table.p, bytes);
	c->ntable = bytes;
}

static void get_code(struct as_bytes *b, struct as_heap_names *n)
{
	if (!room(b, &n->code, &n->code_cap, n->ncodes, sizeof *n->code))
		return;
	struct as_heap_code *c = &n->code[n->ncodes++];

	*c = (struct as_heap_code){0};
	c->name = as_dec_string(b);
	c->file = as_dec_string(b);
	uint32_t lines = (uint32_t)as_dec_below(b, UINT32_MAX);
	c->lines = lines & LINES;
	c->coroutine = lines & COROUTINE;
	c->first_line = (int32_t)as_dec_i64(b);
	get_table(b, c);
}

static void get_module(struct as_bytes *b, struct as_heap_names *n)
{
	size_t i = as_dec_below(b, (uint64_t)n->nmodules + 1);

	if (b->bad || !room(b, &n->module, &n->module_cap, i, sizeof *n->module))
		return;
	struct as_heap_module *m = &n->module[i];
	if (i == n->nmodules)
		*m = (struct as_heap_module){0};
	n->nmodules += i == n->nmodules;
	free(m->path);
	m->path = as_dec_string(b);
	as_dec_chars(b, m->build_id, sizeof m->build_id);
	m->start = as_dec_u64(b);
	m->end = as_dec_u64(b);
	m->bias = as_dec_u64(b);
	m->from = as_dec_u64(b);
	m->until = as_dec_u64(b);
}

static void get_thread(struct as_bytes *b, struct as_heap_names *n)
{
	size_t i = as_dec_below(b, (uint64_t)n->nthreads + 1);

	if (b->bad || !room(b, &n->thread, &n->thread_cap, i, sizeof *n->thread))
		return;
	struct as_heap_thread *t = &n->thread[i];
	if (i == n->nthreads)
		*t = (struct as_heap_thread){0};
	n->nthreads += i == n->nthreads;
	free(t->name);
	t->tid = (uint32_t)as_dec_below(b, UINT64_C(1) << 32);
	t->name = as_dec_string(b);
}

static void get_symbol(struct as_bytes *b, struct as_heap_names *n, uint64_t *address)
{
	if (!room(b, &n->symbol, &n->symbol_cap, n->nsymbols, sizeof *n->symbol))
		return;
	struct as_heap_symbol *s = &n->symbol[n->nsymbols++];

	*s = (struct as_heap_symbol){0};
	*address += (uint64_t)as_dec_i64(b);
	s->address = *address;
	s->node = (uint32_t)as_dec_below(b, UINT64_C(1) << 32);
	s->depth = (uint32_t)as_dec_below(b, UINT64_C(1) << 32);
	s->function = as_dec_string(b);
	s->file = as_dec_string(b);
	s->line = (int32_t)as_dec_i64(b);
}

void as_dec_names(struct as_bytes *b, struct as_heap_names *n)
{
	uint64_t key = 0, address = 0;

	while (as_bytes_left(b) && !b->bad) {
		switch (as_dec_u64(b)) {
		case NODE:
			get_node(b, n, &key);
			break;
		case CODE:
			get_code(b, n);
			break;
		case MODULE:
			get_module(b, n);
			break;
		case THREAD:
			get_thread(b, n);
			break;
		case SYMBOL:
			get_symbol(b, n, &address);
			break;
		default:
			b->bad = true;
		}
	}
}
