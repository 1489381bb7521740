#pragma once
/*
 * hook -- a command of the user's beside a load: what sets a server up, and what
 * takes it down.
 *
 * It runs in a shell, in a process group of its own, so that Ctrl-C is ours
 * alone and everything it started can be ended with it, by the number that we
 * were given. Its output goes to our standard error; it has no input.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct as_hook {   /* all zeros: none */
	pid_t pid; /* of the shell and of its group; 0: there is none */
	bool ended;
	int status; /* of waitpid, once it has ended */
};

int as_hook_start(struct as_hook *h, const char *command, struct as_err *err);
/* Has the shell ended? What it left behind may still run. */
bool as_hook_ended(struct as_hook *h);
/* Wait for it, so long at most; false: it still runs. */
bool as_hook_wait(struct as_hook *h, int64_t for_ns);
/* End its group: asked at first, then, after `patience_ns`, killed. Nothing of it is left. */
void as_hook_end(struct as_hook *h, int64_t patience_ns);
/* "exited with 3", "was ended by signal 9" */
void as_hook_outcome(const struct as_hook *h, char *to, size_t size);
