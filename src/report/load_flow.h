#pragma once
/*
 * load_flow -- what each step of a flow did: for people, and as JSON. Nothing of
 * a load that was none.
 */
#include "report/load.h"

void as_put_load_flow(const struct as_sheet *s);
void as_put_load_flow_json(struct as_json *j, const struct as_load *l);
void as_put_load_flow_markdown(struct as_buf *out, const struct as_load *l);
