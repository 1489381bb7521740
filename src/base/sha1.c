#include "base/sha1.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 80 };

static uint32_t turned(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void spread(const unsigned char *block, uint32_t w[ROUNDS])
{
	for (int i = 0; i < 16; i++)
		w[i] = be32(block + (size_t)4 * (size_t)i);
	for (int i = 16; i < ROUNDS; i++)
		w[i] = turned(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
}

/* What a round does to b, c and d, and its constant: another in each quarter. */
static uint32_t mixed(int i, const uint32_t v[5])
{
	if (i < 20)
		return ((v[1] & v[2]) | (~v[1] & v[3])) + 0x5a827999;
	if (i < 40)
		return (v[1] ^ v[2] ^ v[3]) + 0x6ed9eba1;
	if (i < 60)
		return ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])) + 0x8f1bbcdc;
	return (v[1] ^ v[2] ^ v[3]) + 0xca62c1d6;
}

static void take(uint32_t h[5], const unsigned char *block)
{
	uint32_t w[ROUNDS], v[5];

	spread(block, w);
	memcpy(v, h, sizeof v);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t t = turned(v[0], 5) + mixed(i, v) + v[4] + w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = turned(v[1], 30);
		v[1] = v[0];
		v[0] = t;
	}
	for (int i = 0; i < 5; i++)
		h[i] += v[i];
}

/* What is left over, a bit, zeros, and the length in bits. */
static void take_rest(uint32_t h[5], const unsigned char *p, size_t left, size_t n)
{
	unsigned char end[2 * BLOCK] = {0};
	size_t blocks = left + 9 > BLOCK ? 2 : 1;

	memcpy(end, p, left);
	end[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		end[blocks * BLOCK - 1 - i] = (unsigned char)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < blocks; i++)
		take(h, end + i * BLOCK);
}

void as_sha1(const void *p, size_t n, unsigned char ret[AS_SHA1_BYTES])
{
	uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	const unsigned char *from = p;
	size_t whole = n / BLOCK * BLOCK;

	for (size_t i = 0; i < whole; i += BLOCK)
		take(h, from + i);
	take_rest(h, from + whole, n - whole, n);
	for (size_t i = 0; i < AS_SHA1_BYTES; i++)
		ret[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}
