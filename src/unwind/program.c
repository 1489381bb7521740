#include "unwind/program.h"

/* DW_OP_*, DW_EH_PE_*: the few that are met. */
enum { OP_DEREF = 0x06, OP_BREG0 = 0x70, OP_BREG31 = 0x8f, OP_LIT0 = 0x30, OP_LIT15 = 0x3f };
enum { PE_RELATIVE = 0x70, PE_PC = 0x10, PE_DATA = 0x30, PE_INDIRECT = 0x80, PE_SIGNED = 0x08 };
enum { REMEMBERED = 16, STEPS_MOST = 1 << 16 };

const struct as_unwind_machine as_unwind_x86_64 = {.sp = 7, .fp = 6, .pc = 16};
const struct as_unwind_machine as_unwind_arm64 = {.sp = 31, .fp = 29, .pc = 30};

/* ── what is known of a frame while a program runs ────────────────────── */

struct column {
	enum as_unwind_saved how;
	int64_t at;
};

struct state {
	enum { CFA_NONE, CFA_REGISTER, CFA_AT, CFA_PLT } how;
	uint64_t base; /* a register */
	int64_t at;
	struct column pc, fp;
};

struct run {
	const struct as_unwind_common *common;
	const struct as_unwind_machine *m;
	struct as_cursor c;
	uint64_t here, pc; /* where the state is of, and where it is wanted */
	struct state now, first, kept[REMEMBERED];
	unsigned nkept;
	bool over, bad;
	/* operands of the present instruction */
	uint64_t a;
	int64_t b;
	struct as_cursor block;
};

static struct column *column_of(struct run *r, struct state *s, uint64_t reg)
{
	return reg == r->m->pc ? &s->pc : reg == r->m->fp ? &s->fp : NULL;
}

static void put(struct run *r, enum as_unwind_saved how, int64_t at)
{
	struct column *c = column_of(r, &r->now, r->a);

	if (c)
		*c = (struct column){how, at};
}

/* ── expressions ──────────────────────────────────────────────────────── */

/* What is understood: a register and an offset, and perhaps what stands there. */
struct place {
	bool known, deref;
	uint64_t base;
	int64_t at;
};

static struct place parse_place(struct as_cursor c)
{
	uint8_t op = as_cursor_byte(&c);
	struct place p = {.base = op - (uint64_t)OP_BREG0, .at = (int64_t)as_cursor_leb(&c, true)};

	p.known = op >= OP_BREG0 && op <= OP_BREG31 && !c.bad;
	p.deref = c.p < c.end && *c.p == OP_DEREF;
	p.known &= c.p + p.deref == c.end;
	return p;
}

/* rsp + 8 + ((rip & 15) >= N) * 8, as linkers write it for their stubs; -1: another one. */
static int parse_plt(const struct as_cursor *c)
{
	static const uint8_t want[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
				       0,    0x2a, 0x33, 0x24, 0x22};
	enum { N = 6 };

	if (c->end - c->p != sizeof want || memcmp(c->p, want, N) != 0 ||
	    memcmp(c->p + N + 1, want + N + 1, sizeof want - N - 1) != 0)
		return -1;
	return c->p[N] >= OP_LIT0 && c->p[N] <= OP_LIT15 ? c->p[N] - OP_LIT0 : -1;
}

/* ── instructions ─────────────────────────────────────────────────────── */

static void move_to(struct run *r, uint64_t to)
{
	r->over = to > r->pc;
	r->here = to;
}

static void i_nop(struct run *r)
{
	(void)r;
}

static void i_set_loc(struct run *r)
{
	move_to(r, r->a);
}

static void i_advance(struct run *r)
{
	move_to(r, r->here + r->a * r->common->code_unit);
}

static void i_offset(struct run *r)
{
	put(r, AS_SAVED_AT_CFA, r->b);
}

static void i_negative_offset(struct run *r)
{
	put(r, AS_SAVED_AT_CFA, (int64_t)(0 - (uint64_t)r->b));
}

static void i_restore(struct run *r)
{
	struct column *c = column_of(r, &r->now, r->a), *first = column_of(r, &r->first, r->a);

	if (c)
		*c = *first;
}

static void i_undefined(struct run *r)
{
	put(r, AS_SAVED_END, 0);
}

static void i_same(struct run *r)
{
	put(r, AS_SAVED_NOT, 0);
}

static void i_unclear(struct run *r)
{
	put(r, AS_SAVED_NONE, 0);
}

static void i_remember(struct run *r)
{
	if (r->nkept < REMEMBERED)
		r->kept[r->nkept++] = r->now;
	else
		r->bad = true;
}

static void i_recall(struct run *r)
{
	if (r->nkept)
		r->now = r->kept[--r->nkept];
	else
		r->bad = true;
}

static void i_cfa(struct run *r)
{
	r->now.how = CFA_REGISTER;
	r->now.base = r->a;
	r->now.at = r->b;
}

static void i_cfa_register(struct run *r)
{
	r->now.how = CFA_REGISTER;
	r->now.base = r->a;
}

static void i_cfa_offset(struct run *r)
{
	r->now.at = r->b;
}

static void i_cfa_expression(struct run *r)
{
	struct place p = parse_place(r->block);
	int plt = parse_plt(&r->block);

	r->now.how = plt >= 0 ? CFA_PLT : !p.known ? CFA_NONE : p.deref ? CFA_AT : CFA_REGISTER;
	r->now.base = p.base;
	r->now.at = plt >= 0 ? plt * AS_RULE_UNIT : p.at;
}

static void i_expression(struct run *r)
{
	struct place p = parse_place(r->block);
	bool sp = p.base == r->m->sp, fp = p.base == r->m->fp;

	if (p.known && !p.deref && (sp || fp))
		put(r, sp ? AS_SAVED_AT_SP : AS_SAVED_AT_FP, p.at);
	else
		put(r, AS_SAVED_NONE, 0);
}

/*
 * Operands: r a register, p an address, 1 2 4 bytes of a number; into a. u a
 * number, f one in units of data, s a signed one of those; into b. b a block.
 */
struct instruction {
	const char *operands;
	void (*run)(struct run *r);
};

static const struct instruction instructions[] = {
	[0x00] = {"", i_nop},
	[0x01] = {"p", i_set_loc},
	[0x02] = {"1", i_advance},
	[0x03] = {"2", i_advance},
	[0x04] = {"4", i_advance},
	[0x05] = {"rf", i_offset},
	[0x06] = {"r", i_restore},
	[0x07] = {"r", i_undefined},
	[0x08] = {"r", i_same},
	[0x09] = {"ru", i_unclear},
	[0x0a] = {"", i_remember},
	[0x0b] = {"", i_recall},
	[0x0c] = {"ru", i_cfa},
	[0x0d] = {"r", i_cfa_register},
	[0x0e] = {"u", i_cfa_offset},
	[0x0f] = {"b", i_cfa_expression},
	[0x10] = {"rb", i_expression},
	[0x11] = {"rs", i_offset},
	[0x12] = {"rs", i_cfa},
	[0x13] = {"s", i_cfa_offset},
	[0x14] = {"ru", i_unclear},
	[0x15] = {"rs", i_unclear},
	[0x16] = {"rb", i_unclear},
	[0x2d] = {"", i_nop}, /* arm64: the return address is signed, or no longer */
	[0x2e] = {"u", i_nop},
	[0x2f] = {"rf", i_negative_offset},
};

/* ── running ──────────────────────────────────────────────────────────── */

static int64_t scaled(const struct run *r, uint64_t n)
{
	return (int64_t)(n * (uint64_t)r->common->data_unit);
}

static void read_operand(struct run *r, char kind)
{
	struct as_cursor *c = &r->c;

	if (kind == 'r')
		r->a = as_cursor_leb(c, false);
	else if (kind == 'p')
		r->a = as_unwind_pointer(c, r->common->pointers, 0);
	else if (kind == 'u')
		r->b = (int64_t)as_cursor_leb(c, false);
	else if (kind == 'f' || kind == 's')
		r->b = scaled(r, as_cursor_leb(c, kind == 's'));
	else if (kind != 'b')
		r->a = as_cursor_int(c, (size_t)(kind - '0'));
	else {
		uint64_t n = as_cursor_leb(c, false);
		const uint8_t *p = as_cursor_skip(c, n);

		r->block = (struct as_cursor){p, p ? p + n : p, 0, false};
	}
}

/* The three commonest hold an operand in the byte itself. */
static bool run_short(struct run *r, uint8_t op)
{
	enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0, LOW = 0x3f };

	r->a = op & LOW;
	if ((op & ~LOW) == ADVANCE) {
		i_advance(r);
	} else if ((op & ~LOW) == OFFSET) {
		read_operand(r, 'f');
		i_offset(r);
	} else if ((op & ~LOW) == RESTORE) {
		i_restore(r);
	} else {
		return false;
	}
	return true;
}

static void run_one(struct run *r)
{
	uint8_t op = as_cursor_byte(&r->c);

	if (run_short(r, op))
		return;
	const struct instruction *i =
		op < sizeof instructions / sizeof *instructions ? &instructions[op] : NULL;
	if (!i || !i->run) {
		r->bad = true;
		return;
	}
	for (const char *o = i->operands; *o; o++)
		read_operand(r, *o);
	if (!r->c.bad)
		i->run(r);
}

static bool run_all(struct run *r, struct as_cursor program)
{
	r->c = program;
	for (int n = 0; r->c.p < r->c.end && !r->over; n++) {
		run_one(r);
		if (r->bad || r->c.bad || n > STEPS_MOST)
			return false;
	}
	return true;
}

/* ── the answer ───────────────────────────────────────────────────────── */

static bool fits(int64_t at, unsigned bits)
{
	int64_t most = (1ll << (bits - 1)) - 1;

	return at % AS_RULE_UNIT == 0 && at / AS_RULE_UNIT <= most && at / AS_RULE_UNIT >= -most;
}

static enum as_unwind_cfa cfa_kind(const struct run *r)
{
	const struct state *s = &r->now;
	bool sp = s->base == r->m->sp, fp = s->base == r->m->fp;

	if (!fits(s->at, AS_RULE_CFA_BITS))
		return AS_CFA_NONE;
	if (s->how == CFA_PLT)
		return AS_CFA_PLT;
	if (s->how == CFA_AT)
		return sp ? AS_CFA_AT_SP : fp ? AS_CFA_AT_FP : AS_CFA_NONE;
	if (s->how == CFA_REGISTER)
		return sp ? AS_CFA_SP : fp ? AS_CFA_FP : AS_CFA_NONE;
	return AS_CFA_NONE;
}

static struct column checked(struct column c)
{
	return fits(c.at, AS_RULE_AT_BITS) ? c : (struct column){AS_SAVED_NONE, 0};
}

static struct as_unwind_rule answer(const struct run *r)
{
	struct column pc = checked(r->now.pc), fp = checked(r->now.fp);
	enum as_unwind_cfa cfa = cfa_kind(r);

	return (struct as_unwind_rule){
		.cfa = cfa,
		.cfa_at = cfa ? r->now.at / AS_RULE_UNIT : 0,
		.pc = pc.how,
		.pc_at = pc.at / AS_RULE_UNIT,
		.fp = fp.how,
		.fp_at = fp.at / AS_RULE_UNIT,
		.signal = r->common->signal,
	};
}

bool as_unwind_run(const struct as_unwind_common *common, struct as_cursor program,
		   const struct as_unwind_machine *m, uint64_t start, uint64_t pc,
		   struct as_unwind_rule *ret)
{
	struct run r = {.common = common, .m = m, .here = start, .pc = pc};

	if (!run_all(&r, common->first))
		return false;
	r.first = r.now;
	r.over = false;
	r.here = start;
	if (!run_all(&r, program))
		return false;
	*ret = answer(&r);
	return true;
}

/* ── addresses ────────────────────────────────────────────────────────── */

static uint64_t sign_extend(uint64_t v, size_t bytes)
{
	unsigned shift = 64 - 8 * (unsigned)bytes;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static uint64_t read_value(struct as_cursor *c, uint8_t how)
{
	static const uint8_t bytes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
	size_t n = bytes[how & 7];
	bool is_signed = how & PE_SIGNED;

	if ((how & 7) == 1)
		return as_cursor_leb(c, is_signed);
	if (!n) {
		c->bad = true;
		return 0;
	}
	uint64_t v = as_cursor_int(c, n);
	return is_signed ? sign_extend(v, n) : v;
}

uint64_t as_unwind_pointer(struct as_cursor *c, uint8_t how, uint64_t data)
{
	uint64_t at = c->address;
	uint64_t v = read_value(c, how);
	uint8_t to = how & PE_RELATIVE;

	if (how & PE_INDIRECT || (to && to != PE_PC && to != PE_DATA))
		c->bad = true;
	return v + (to == PE_PC ? at : to == PE_DATA ? data : 0);
}
