#pragma once
/*
 * load_server -- what each server had of a load that several shared.
 */
#include "base/json.h"
#include "report/head.h"

void as_put_load_servers(const struct as_sheet *s);
/* "targets"; none, when it was one server. */
void as_put_load_servers_json(struct as_json *j, const struct as_load *l);
