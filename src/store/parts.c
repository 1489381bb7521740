#include "store/parts.h"

#include <assert.h>
#include <string.h>

#include "base/fault.h"
#include "store/record.h"

static_assert(sizeof(enum as_status) == 4, "a status is kept as 32 bits");

/* ── tables: append rows, never change a tag ──────────────────────────── */

static const struct as_slot identity_slots[] = {
	AS_SLOT(1, CHARS, struct as_identity, id),
	AS_SLOT(2, TEXT, struct as_identity, name),
	AS_SLOT(3, TEXT, struct as_identity, version),
	AS_SLOT(4, TEXT, struct as_identity, kind),
	AS_SLOT(5, TEXT, struct as_identity, parent),
	AS_SLOT(6, TEXT, struct as_identity, host),
	AS_SLOT(7, TEXT, struct as_identity, user),
	AS_SLOT(8, TEXT, struct as_identity, cwd),
	AS_SLOT(9, TEXT, struct as_identity, boot_id),
	AS_SLOT(10, TEXT, struct as_identity, git),
	AS_SLOT(11, I64, struct as_identity, start_ns),
	AS_SLOT(12, I64, struct as_identity, boottime_ns),
	AS_SLOT(13, I64, struct as_identity, interval_ns),
	AS_SLOT(14, I32, struct as_identity, target),
	AS_SLOT(15, I32, struct as_identity, cpus),
	AS_SLOT(16, MAYBE, struct as_identity, memory),
	AS_SLOT(17, I64, struct as_identity, quota),
};

static const struct as_slot outcome_slots[] = {
	AS_SLOT(1, U32, struct as_outcome, status),
	AS_SLOT(2, I32, struct as_outcome, exit_code),
	AS_SLOT(3, I32, struct as_outcome, signal),
	AS_SLOT(4, I64, struct as_outcome, duration_ns),
	AS_SLOT(5, I32, struct as_outcome, survivors),
	AS_SLOT(6, TEXT, struct as_outcome, error),
	AS_SLOT(7, MAYBE, struct as_outcome, unmeasured),
};

static const struct as_slot instance_slots[] = {
	AS_SLOT(1, U32, struct as_instance, id),
	AS_SLOT(2, U32, struct as_instance, parent),
	AS_SLOT(3, I64, struct as_instance, key),
	AS_SLOT(4, TEXT, struct as_instance, name),
	AS_SLOT(5, TEXT, struct as_instance, detail),
	AS_SLOT(6, MAYBE, struct as_instance, born_ns),
	AS_SLOT(7, MAYBE, struct as_instance, died_ns),
	AS_SLOT(8, MAYBE, struct as_instance, ended_by),
};

static const struct as_slot verdict_slots[] = {
	AS_SLOT(1, CHARS, struct as_verdict, kind),
	AS_SLOT(2, CHARS, struct as_verdict, sentence),
	AS_SLOT(3, CHARS, struct as_verdict, advice),
	AS_SLOT(4, F64, struct as_verdict, confidence),
};

#define ENC(b, table, from) as_record_enc(b, table, AS_LEN(table), from)
#define DEC(b, table, to)   as_record_dec(b, table, AS_LEN(table), to)

/* ── identity ─────────────────────────────────────────────────────────── */

/* A word of a list: it is never NULL when read back. */
static void enc_word(struct as_buf *b, const char *s)
{
	as_enc_text(b, s ? s : "");
}

static void enc_pairs(struct as_buf *b, const struct as_pair *p, size_t n)
{
	as_enc_u64(b, n);
	for (size_t i = 0; i < n; i++) {
		enc_word(b, p[i].key);
		enc_word(b, p[i].value);
	}
}

void as_enc_identity(struct as_buf *b, const struct as_identity *who)
{
	ENC(b, identity_slots, who);
	as_enc_u64(b, who->argc);
	for (size_t i = 0; i < who->argc; i++)
		enc_word(b, who->argv[i]);
	enc_pairs(b, who->labels, who->nlabels);
	enc_pairs(b, who->params, who->nparams);
}

/* Zeroed room for n things, or nomem. */
static void *room(struct as_bytes *b, size_t n, size_t size)
{
	void *p = b->bad ? NULL : as_zalloc_n(n, size);

	if (!p && !b->bad)
		b->bad = b->nomem = true;
	return p;
}

static char *word(struct as_bytes *b)
{
	char *s = as_dec_string(b);

	if (!s)
		b->bad = true;
	return s;
}

static void dec_words(struct as_bytes *b, struct as_identity *who)
{
	size_t n = as_dec_count(b, 1);

	who->argv = room(b, n + 1, sizeof *who->argv);
	for (; !b->bad && who->argc < n; who->argc++)
		who->argv[who->argc] = word(b);
}

static void dec_pairs(struct as_bytes *b, struct as_pair **ret, size_t *ret_n)
{
	size_t n = as_dec_count(b, 2);

	*ret = room(b, n, sizeof **ret);
	for (; !b->bad && *ret_n < n; ++*ret_n) {
		(*ret)[*ret_n].key = word(b);
		(*ret)[*ret_n].value = word(b);
	}
}

static bool all_from(const char *s, const char *letters, size_t n)
{
	return strlen(s) == n && strspn(s, letters) == n;
}

void as_dec_identity(struct as_bytes *b, struct as_identity *ret)
{
	*ret = (struct as_identity){0};
	DEC(b, identity_slots, ret);
	dec_words(b, ret);
	dec_pairs(b, &ret->labels, &ret->nlabels);
	dec_pairs(b, &ret->params, &ret->nparams);
	if (!all_from(ret->id, "abcdefghijklmnopqrstuvwxyz234567", AS_ID_LEN))
		b->bad = true;
}

/* ── outcome, instance, origin, verdict ───────────────────────────────── */

void as_enc_outcome(struct as_buf *b, const struct as_outcome *o)
{
	ENC(b, outcome_slots, o);
}

void as_dec_outcome(struct as_bytes *b, struct as_outcome *ret)
{
	*ret = (struct as_outcome){0};
	DEC(b, outcome_slots, ret);
	if ((unsigned)ret->status >= AS_NSTATUSES)
		b->bad = true;
}

void as_enc_instance(struct as_buf *b, const struct as_instance *i)
{
	ENC(b, instance_slots, i);
}

void as_dec_instance(struct as_bytes *b, struct as_instance *ret)
{
	*ret = (struct as_instance){0};
	DEC(b, instance_slots, ret);
}

void as_enc_origin(struct as_buf *b, enum as_provenance how, const char *source)
{
	as_enc_u64(b, (unsigned)how);
	as_enc_text(b, source);
}

void as_dec_origin(struct as_bytes *b, struct as_origin *ret)
{
	*ret = (struct as_origin){.how = (enum as_provenance)as_dec_below(b, AS_MODELLED + 1)};
	as_dec_chars(b, ret->source, sizeof ret->source);
}

void as_enc_verdict(struct as_buf *b, const struct as_verdict *v)
{
	ENC(b, verdict_slots, v);
	as_enc_u64(b, v->nevidence);
	for (size_t i = 0; i < v->nevidence; i++) {
		as_enc_text(b, v->evidence[i].what);
		as_enc_text(b, v->evidence[i].value);
	}
}

void as_dec_verdict(struct as_bytes *b, struct as_verdict *ret)
{
	*ret = (struct as_verdict){0};
	DEC(b, verdict_slots, ret);
	ret->nevidence = (size_t)as_dec_below(b, AS_EVIDENCE_MAX + 1);
	for (size_t i = 0; i < ret->nevidence; i++) {
		as_dec_chars(b, ret->evidence[i].what, sizeof ret->evidence[i].what);
		as_dec_chars(b, ret->evidence[i].value, sizeof ret->evidence[i].value);
	}
}

/* ── keys ─────────────────────────────────────────────────────────────── */

void as_enc_keys(struct as_buf *b)
{
	as_enc_u64(b, AS_NSCOPES);
	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_scope_info *info = as_scope_info((enum as_scope)s);

		as_enc_text(b, info->name);
		as_enc_u64(b, info->n);
		for (size_t c = 0; c < info->n; c++)
			as_enc_text(b, as_fields[info->first + c].key);
	}
}

static bool same(const char *text, size_t len, const char *name)
{
	return text && strlen(name) == len && !memcmp(text, name, len);
}

static enum as_scope scope_named(const char *text, size_t len)
{
	int s = 0;

	while (s < AS_NSCOPES && !same(text, len, as_scope_info((enum as_scope)s)->name))
		s++;
	return (enum as_scope)s;
}

/* Which of our columns has this key? Mostly the one of the same number: ask it first. */
static uint16_t column_keyed(enum as_scope scope, size_t c, const char *text, size_t len)
{
	const struct as_scope_info *info = scope < AS_NSCOPES ? as_scope_info(scope) : NULL;

	if (!info || !text)
		return AS_NO_COLUMN;
	if (c < info->n && same(text, len, as_fields[info->first + c].key))
		return (uint16_t)c;
	size_t f = as_field_find(text, len);
	return f < AS_NFIELDS && as_fields[f].scope == scope ? (uint16_t)(f - info->first)
							     : (uint16_t)AS_NO_COLUMN;
}

static void dec_scope(struct as_bytes *b, struct as_keys *k)
{
	size_t len;
	const char *text = as_dec_text(b, &len);
	enum as_scope scope = scope_named(text, len);
	size_t n = as_dec_below(b, AS_KEYS_COLUMNS - k->ncolumns + 1);

	k->scopes[k->n].scope = scope;
	k->scopes[k->n].first = (uint16_t)k->ncolumns;
	k->scopes[k->n].n = (uint16_t)n;
	for (size_t c = 0; c < n && !b->bad; c++) {
		text = as_dec_text(b, &len);
		k->column[k->ncolumns++] = column_keyed(scope, c, text, len);
	}
	k->n++;
}

/* No scope and no column of ours may be named twice: its cells would fight. */
static bool twice(const struct as_keys *k)
{
	bool seen[AS_NFIELDS] = {0}, scope_seen[AS_NSCOPES] = {0};

	for (size_t s = 0; s < k->n; s++) {
		enum as_scope scope = k->scopes[s].scope;

		if (scope == AS_NSCOPES)
			continue;
		if (scope_seen[scope])
			return true;
		scope_seen[scope] = true;
		for (size_t c = 0; c < k->scopes[s].n; c++) {
			uint16_t column = k->column[k->scopes[s].first + c];
			size_t f = as_scope_info(scope)->first + (size_t)column;

			if (column == AS_NO_COLUMN)
				continue;
			if (seen[f])
				return true;
			seen[f] = true;
		}
	}
	return false;
}

void as_dec_keys(struct as_bytes *b, struct as_keys *ret)
{
	size_t n = as_dec_below(b, AS_KEYS_SCOPES + 1);

	ret->n = ret->ncolumns = 0;
	while (ret->n < n && !b->bad)
		dec_scope(b, ret);
	if (b->bad)
		ret->n = ret->ncolumns = 0;
	else if (twice(ret))
		b->bad = true;
}
