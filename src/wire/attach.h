#pragma once
/*
 * attach -- how a guest comes into a process that runs: what whoever brings it
 * (os/inject.h) and the guest (preload/attach.c) share.
 *
 * A thread of the process is made to start another, which loads the library
 * and goes on at its door, AS_WIRE_ATTACH_DOOR, with the address of this struct.
 * It lies in memory that was mapped for that, together with the few instructions
 * that did it. The guest gives it all back when `released` says that the first
 * thread has left it; if nobody ever says so, it stays.
 *
 * Or an interpreter of Python is asked to load the library (heap/ask.h), as its
 * module AS_WIRE_ATTACH_MODULE. Then the struct is a file, which the guest maps;
 * its path is sys.AS_WIRE_ATTACH_PLACE meanwhile.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define AS_WIRE_ATTACH_DOOR   "assay_heap_attach"
#define AS_WIRE_ATTACH_THREAD "assay-heap"
#define AS_WIRE_ATTACH_MODULE "assay_heap"
#define AS_WIRE_ATTACH_PLACE  "_assay_heap"
#define AS_WIRE_ATTACH_MAGIC  0x3148435454415341ull /* "ASATTCH1" */

enum as_wire_attach_status {
	AS_WIRE_ATTACH_COMES,   /* nothing is known yet                                      */
	AS_WIRE_ATTACH_LOADED,  /* the library is there, and has not begun                   */
	AS_WIRE_ATTACH_DONE,    /* it records                                                */
	AS_WIRE_ATTACH_ERROR,   /* the library could not be loaded: `error` is the loader's  */
	AS_WIRE_ATTACH_THERE,   /* the process is being recorded                             */
	AS_WIRE_ATTACH_FIRST,   /* the library was there from the start: it is no attachment */
	AS_WIRE_ATTACH_BUILTIN, /* the program has an allocator of its own, called directly */
	AS_WIRE_ATTACH_REFUSED, /* no collector, or no memory                              */
	AS_WIRE_ATTACH_STATES,
};

struct as_wire_attach {
	uint64_t magic;
	/* Addresses in the process; `door` 0: the library is not there yet. */
	uint64_t door, thread_create, load, find, why, detach;
	uint64_t frame;            /* where the first thread finds what it was before   */
	uint64_t region, bytes;    /* of all that was mapped                            */
	uint64_t thread;           /* what thread_create says of the new thread         */
	_Atomic int32_t created;   /* what it returned, less one; 0: it has not yet      */
	_Atomic uint32_t status;   /* of enum as_wire_attach_status                      */
	_Atomic uint32_t released; /* 1: the first thread is where it was                */
	uint32_t zero;
	char name[32];    /* of the door                                        */
	char socket[112]; /* where the collector listens                        */
	char error[256];
	char library[4096];
};

/* The instructions in os/inject.c know where these are. */
#define AS_WIRE_ATTACH_AT_(member, at)                                                             \
	_Static_assert(offsetof(struct as_wire_attach, member) == (at), #member)
AS_WIRE_ATTACH_AT_(door, 8);
AS_WIRE_ATTACH_AT_(thread_create, 16);
AS_WIRE_ATTACH_AT_(load, 24);
AS_WIRE_ATTACH_AT_(find, 32);
AS_WIRE_ATTACH_AT_(why, 40);
AS_WIRE_ATTACH_AT_(detach, 48);
AS_WIRE_ATTACH_AT_(frame, 56);
AS_WIRE_ATTACH_AT_(thread, 80);
AS_WIRE_ATTACH_AT_(created, 88);
AS_WIRE_ATTACH_AT_(status, 92);
AS_WIRE_ATTACH_AT_(name, 104);
AS_WIRE_ATTACH_AT_(error, 248);
AS_WIRE_ATTACH_AT_(library, 504);
