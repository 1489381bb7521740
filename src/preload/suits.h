#pragma once
/*
 * suits -- can a program that is about to be executed have us in it?
 *
 * One that cannot be looked at can, as far as we know: the kernel will tell its
 * caller what is wrong with it. Nothing is allocated, and errno is not touched.
 */
#include <stdbool.h>

/* By its path; or, without a '/', sought in PATH as execvp() does. */
bool as_suits(const char *file, bool sought);
bool as_suits_fd(int fd);
