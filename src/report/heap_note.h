#pragma once
/*
 * heap_note -- what a run allocated, if that was recorded: where it is shown
 * beside everything else. Nothing without; the whole of it is in the capture.
 */
#include "base/json.h"
#include "report/head.h"

void as_put_heap_note(const struct as_sheet *s);
/* assay.heap of the run's document; null without. */
void as_put_heap_note_json(struct as_json *j, const struct as_run *run);
