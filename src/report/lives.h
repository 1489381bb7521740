#pragma once
/*
 * lives -- the tables of a run's processes, threads and cores.
 */
#include "report/head.h"

void as_put_processes(const struct as_sheet *s); /* a tree, with lifetimes as bars */
void as_put_threads(const struct as_sheet *s);   /* the busiest ones               */
void as_put_cores(const struct as_sheet *s);     /* one character each             */
