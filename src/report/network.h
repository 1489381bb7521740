#pragma once
/*
 * network -- whom the job talked to: the table of its peers, and a line for
 * the summary.
 */
#include "report/head.h"

/* The peers with the most bytes first, and the interfaces over which anything went. */
void as_put_network(const struct as_sheet *s);
/* All bytes that went over the network; NaN when unknown, or when there were no connections. */
double as_net_bytes(const struct as_run *run);
/* What else is worth a word: sent, received, connections, peers, segments sent again. */
void as_note_net(const struct as_run *run, struct as_flow *f);
