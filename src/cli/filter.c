#include "cli/filter.h"

#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "cli/when.h"

static int moment(const char *option, const char *text, int64_t *ret, struct as_err *err)
{
	int r = text ? as_when_parse(text, as_clock(CLOCK_REALTIME), ret, err) : AS_OK;

	return r < 0 ? as_err_wrap(err, "--%s", option) : r;
}

static int add_label(struct as_selection *s, const char *word, struct as_err *err)
{
	const char *value = NULL;
	size_t len = 0;
	int r = as_opt_pair(word, &value, &len, err);

	if (r < 0)
		return r;
	struct as_pair *p = &s->labels[s->query.nlabels++];
	p->key = as_strndup(word, len);
	p->value = as_strdup(value);
	return p->key && p->value ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for the filter");
}

static int select_labels(struct as_selection *s, const struct as_opt_list *labels,
			 struct as_err *err)
{
	for (size_t i = 0; i < labels->n; i++) {
		int r = add_label(s, labels->v[i], err);

		if (r < 0)
			return r;
	}
	s->query.labels = s->labels;
	return AS_OK;
}

int as_filter_select(const struct as_filter *f, struct as_selection *ret, struct as_err *err)
{
	struct as_query *q = &ret->query;

	*ret = (struct as_selection){
		.query = {.name = f->name, .version = f->version, .host = f->host}};
	if (f->status) {
		q->by_status = true;
		q->status = as_status_find(f->status);
	}
	int r = moment("since", f->since, &q->since_ns, err);
	if (r == AS_OK)
		r = moment("until", f->until, &q->until_ns, err);
	if (r == AS_OK && f->since && f->until && q->since_ns >= q->until_ns)
		r = as_fail(err, AS_EUSAGE, "--since '%s' is not before --until '%s'", f->since,
			    f->until);
	if (r == AS_OK)
		r = select_labels(ret, &f->labels, err);
	if (r < 0)
		as_selection_done(ret);
	return r;
}

void as_selection_done(struct as_selection *s)
{
	for (size_t i = 0; i < s->query.nlabels; i++) {
		free(s->labels[i].key);
		free(s->labels[i].value);
	}
	*s = (struct as_selection){0};
}

bool as_filter_any(const struct as_filter *f)
{
	return f->name || f->status || f->version || f->host || f->since || f->until || f->labels.n;
}
