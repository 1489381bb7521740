/*
 * replay_main -- run a fuzz target over files, without libFuzzer.
 *
 * Each file is one test and is fed whole, in a block of exactly its size so
 * that a sanitizer sees one byte too many. A crash leaves the TAP plan
 * unfulfilled, which the runner counts as a failure.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *slurp(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "rb");
	long size = -1;

	if (f && fseek(f, 0, SEEK_END) == 0)
		size = ftell(f);
	if (!f || size < 0) {
		perror(path);
		exit(2);
	}
	rewind(f);
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		exit(2);
	}
	fclose(f);
	*ret_size = (size_t)size;
	return data;
}

int main(int argc, char **argv)
{
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		size_t size = 0;
		uint8_t *data = slurp(argv[i], &size);

		fflush(stdout);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
		printf("ok %d - %s\n", i, argv[i]);
	}
	return 0;
}
