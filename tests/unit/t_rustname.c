/* rustname -- Rust's newer names. What rustc made, and what its grammar allows; c++filt agrees. */
#include "utest.h"

#include "stack/rustname.h"

static const struct {
	const char *name, *want; /* NULL: it is none */
} names[] = {
	{"_RNvCsjMaewn57Afh_1t4main", "t::main"},
	{"_RNvXCsjMaewn57Afh_1tINtB2_2SqdENtB2_5Shape4area", "<t::Sq<f64> as t::Shape>::area"},
	{"_RNvMNtCslNYArtu3iFV_5alloc6stringNtB2_6String11try_reserve",
	 "<alloc::string::String>::try_reserve"},
	{"_RNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0CsjMaewn57Afh_1t",
	 "std::rt::lang_start::<()>::{closure#0}"},
	{"_RNSNvYNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0INtNtNtCsgEmfK2I1SDS_4core3ops8function"
	 "6FnOnceuE9call_once6vtableCsjMaewn57Afh_1t",
	 "<std::rt::lang_start<()>::{closure#0} as core::ops::function::FnOnce<()>>::call_once::"
	 "{shim:vtable#0}"},
	{"_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxDNtCsjMae"
	 "wn57Afh_1t5ShapeEL_EEB1i_",
	 "core::ptr::drop_in_place::<alloc::boxed::Box<dyn t::Shape>>"},
	{"_RNvC1a1f.llvm.3003561974494180885", "a::f"},
	{"_RINvC1a1fAhj3_E", "a::f::<[u8; 3]>"},
	{"_RINvC1a1fTyEE", "a::f::<(u64,)>"},
	{"_RINvC1a1fTE", NULL},
	{"_RINvC1a1fTyzEE", "a::f::<(u64, !)>"},
	{"_RINvC1a1fFUKCEuE", "a::f::<unsafe extern \"C\" fn()>"},
	{"_RINvC1a1fFG_RL0_hEjE", "a::f::<for<'a> fn(&'a u8) -> usize>"},
	{"_RINvC1a1fDNtC1a1Tp4ItemhEL_E", "a::f::<dyn a::T<Item = u8>>"},
	{"_RINvC1a1fDINtC1a1TlEp4ItemhEL_E", "a::f::<dyn a::T<i32, Item = u8>>"},
	{"_RINvC1a1fKb1_E", "a::f::<true>"},
	{"_RINvC1a1fKlna_E", "a::f::<-10>"},
	{"_RINvC1a1fQOSPcE", "a::f::<&mut *mut [*const char]>"},
	{"_RINvC1a1fL_E", "a::f::<'_>"},
	{"_R", NULL},
	{"_RN", NULL},
	{"_RC99a", NULL},
	{"_RB_", NULL},
	{"_RBa_", NULL},
	{"_RINvC1a1fBz_E", NULL},
	{"_RINvC1a1fL0_E", NULL},
	{"_RINvC1a1fKR_E", NULL},
	{"_RNvC1a1f junk", NULL},
	{"_Rust", NULL},
	{"_ZN1a1fE", NULL},
};

static const char *said(const char *name, size_t n, char *out, size_t room)
{
	return as_rust_name(utest_edge(name, n), n, out, room) ? out : "none";
}

static void t_names(void)
{
	char out[512];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		EXPECT_STR(said(names[i].name, strlen(names[i].name), out, sizeof out),
			   names[i].want ? names[i].want : "none");
}

/* A part of a name is another name, or none; whatever there is room for. */
static void t_every_prefix(void)
{
	char out[512];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t n = 0; n <= strlen(names[i].name); n++)
			for (size_t room = 0; room < 64; room += 9)
				(void)said(names[i].name, n, out, room);
}

/* Each of these would be longer, or deeper, than there is room for. */
static void t_bounds(void)
{
	char deep[1024], out[512];

	memset(deep, 'S', sizeof deep);
	memcpy(deep, "_RINvC1a1f", 10);
	EXPECT_STR(said(deep, sizeof deep, out, sizeof out), "none");
	/* Each pair is two of the pair before. */
	(void)strcpy(deep, "_RINvC1a1fTTTTTTTTTTTTTTTTTTTThhEB9_EB9_EB9_E");
	EXPECT_STR(said(deep, strlen(deep), out, sizeof out), "none");
	/* A part that is within itself. */
	EXPECT_STR(said("_RINvC1a1fTB8_EE", 16, out, sizeof out), "none");
}

UTEST_MAIN(T(t_names), T(t_every_prefix), T(t_bounds))
