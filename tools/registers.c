/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "registers.h"
#include "message.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SCTLR_M  UINT64_C(1)
#define HCR_VM   UINT64_C(1)
#define HCR_E2H  (UINT64_C(1) << 34)

static const char *const names[REGISTERS] = {
	"ttbr0", "ttbr1", "tcr", "mair", "sctlr", "vttbr", "vtcr", "hcr", "tcr2", "pir", "pire0", "por",
};

static const struct {
	const char *name;
	uint64_t feature;
} features[] = {
	{ "lpa", PGT_FEAT_LPA }, { "lpa2", PGT_FEAT_LPA2 }, { "lva", PGT_FEAT_LVA }, { "st", PGT_FEAT_ST },
	{ "xnx", PGT_FEAT_XNX }, { "fwb", PGT_FEAT_FWB }, { "contig", PGT_FEAT_CONTIG },
	{ "bbm1", PGT_FEAT_BBM1 }, { "bbm2", PGT_FEAT_BBM2 },
};
#define FEATURES (sizeof features / sizeof *features)

/* ---- One name, one value ---- */

/* "ttbr0" and "TTBR0_EL1" are the same; "ttbr0_el2" is another. */
static bool set_register(struct registers *r, const char *what, const char *name, const char *value)
{
	const char *suffix = strchr(name, '_');
	size_t n = suffix ? (size_t)(suffix - name) : strlen(name);
	struct bank *bank = &r->plain;
	int i = 0;

	while (i < REGISTERS && (strlen(names[i]) != n || strncasecmp(names[i], name, n) != 0))
		i++;
	if (i == REGISTERS)
		return false;
	if (suffix && !strcasecmp(suffix, "_el2"))
		bank = i == VTTBR || i == VTCR || i == HCR ? bank : &r->el2;
	else if (suffix && strcasecmp(suffix, "_el1") != 0 && strcasecmp(suffix, "_el12") != 0)
		return false;
	bank->value[i] = number_of(what, value);
	bank->given[i] = true;
	return true;
}

static void set_features(struct registers *r, const char *what, const char *list)
{
	char *copy = need(strdup(list)), *rest = copy, *word;

	while ((word = strsep(&rest, ", \t"))) {
		size_t i = 0;

		if (!*word)
			continue;
		while (i < FEATURES && strcasecmp(features[i].name, word) != 0)
			i++;
		if (i == FEATURES)
			fail("%s: unknown feature '%s'; known are lpa, lpa2, lva, st, xnx, fwb, contig, bbm1, bbm2",
			     what, word);
		r->features |= features[i].feature;
	}
	free(copy);
}

static void set_regime(struct registers *r, const char *what, const char *value)
{
	if (strcasecmp(value, "el1") != 0 && strcasecmp(value, "el2") != 0 && strcasecmp(value, "s2") != 0)
		fail("%s: unknown regime '%s'; try el1, el2 or s2", what, value);
	snprintf(r->regime, sizeof r->regime, "%s", value);
	for (char *c = r->regime; *c; c++)
		*c |= 0x20;
}

static void set_stage(struct registers *r, const char *what, const char *value)
{
	r->stage = !strcmp(value, "1") ? 1 : !strcmp(value, "2") ? 2 : !strcmp(value, "both") ? 3 : 0;
	if (!r->stage)
		fail("%s: unknown stage '%s'; try 1, 2 or both", what, value);
}

bool registers_set(struct registers *r, const char *what, const char *name, const char *value)
{
	if (!strcasecmp(name, "features")) {
		set_features(r, what, value);
	} else if (!strcasecmp(name, "regime")) {
		set_regime(r, what, value);
	} else if (!strcasecmp(name, "stage")) {
		set_stage(r, what, value);
	} else if (!strcasecmp(name, "base")) {
		r->base = number_of(what, value);
		r->base_given = true;
	} else if (!strcasecmp(name, "ram")) {
		r->ram = grow(r->ram, r->ram_count, &r->ram_room, sizeof *r->ram);
		r->ram[r->ram_count++] = need(strdup(value));
	} else {
		return set_register(r, what, name, value);
	}
	return true;
}

/* ---- Files ---- */

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r\n");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return text;
}

/* A RAM file's name is relative to the file that names it. */
static char *beside(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	size_t folder = slash && name[0] != '/' ? (size_t)(slash + 1 - file) : 0;
	char *path = need(malloc(folder + strlen(name) + 1));

	memcpy(path, file, folder);
	strcpy(path + folder, name);
	return path;
}

static void read_line(struct registers *r, const char *file, unsigned n, char *line)
{
	char what[300], *equals, *name, *value, *path = NULL;

	line[strcspn(line, "#")] = '\0';
	name = trim(line);
	if (!*name)
		return;
	equals = strchr(name, '=');
	if (!equals)
		fail("%s:%u: '%.40s' is no 'name = value'", file, n, name);
	*equals = '\0';
	name = trim(name);
	value = trim(equals + 1);
	snprintf(what, sizeof what, "%.200s:%u: %.40s", file, n, name);
	if (!*value)
		fail("%s: has no value", what);
	if (!strcasecmp(name, "ram"))
		value = path = beside(file, value);
	if (!registers_set(r, what, name, value))
		fail("%s: unknown name; known are ttbr0 ttbr1 tcr mair sctlr vttbr vtcr hcr tcr2 pir pire0 por "
		     "regime stage features ram base", what);
	free(path);
}

void registers_read(struct registers *r, const char *file)
{
	FILE *f = fopen(file, "r");
	char line[4096];
	unsigned n = 0;

	if (!f)
		fail("%s: %s", file, strerror(errno));
	while (fgets(line, sizeof line, f)) {
		n++;
		if (!strchr(line, '\n') && !feof(f))
			fail("%s:%u: the line is too long; is this a file of registers?", file, n);
		read_line(r, file, n, line);
	}
	if (ferror(f))
		fail("%s: %s", file, strerror(errno));
	fclose(f);
}

/* ---- What they mean together ---- */

static void require(const struct bank *b, int i, const char *why)
{
	if (!b->given[i])
		fail("the registers lack %s, %s; try --%s=0x..., or a line '%s = 0x...' in a file for --regs",
		     names[i], why, names[i], names[i]);
}

/* EL2's own values where they are given, else those without a suffix. */
static struct bank at_el2(const struct registers *r)
{
	struct bank b = r->plain;

	for (int i = 0; i < REGISTERS; i++)
		if (r->el2.given[i]) {
			b.value[i] = r->el2.value[i];
			b.given[i] = true;
		}
	return b;
}

static struct pgt_arm64_regs values(const struct registers *r, const struct bank *b, uint32_t regime)
{
	return (struct pgt_arm64_regs){
		.size = sizeof(struct pgt_arm64_regs),
		.regime = regime,
		.ttbr0 = b->value[TTBR0],
		.ttbr1 = b->value[TTBR1],
		.tcr = b->value[TCR],
		.mair = b->value[MAIR],
		/* A register that nobody gave says that translation is on. */
		.sctlr = b->given[SCTLR] ? b->value[SCTLR] : SCTLR_M,
		.vttbr = b->value[VTTBR],
		.vtcr = b->value[VTCR],
		.hcr = b->given[HCR] ? b->value[HCR] : regime == PGT_ARM64_S2 ? HCR_VM : 0,
		.tcr2 = b->value[TCR2],
		.pir = b->value[PIR],
		.pire0 = b->value[PIRE0],
		.por = b->value[POR],
		.features = r->features,
	};
}

/* Whether there is a stage 2, where nobody says so. */
static bool second_is_on(const struct registers *r)
{
	const struct bank *b = &r->plain;

	if (!strcmp(r->regime, "s2"))
		return true;
	if (!strcmp(r->regime, "el2") || !b->given[VTTBR] || !b->given[VTCR])
		return false;
	return b->given[HCR] ? b->value[HCR] & HCR_VM : b->value[VTTBR] != 0;
}

static bool first_is_on(const struct registers *r)
{
	return strcmp(r->regime, "s2") != 0 && (r->plain.given[TCR] || r->el2.given[TCR]);
}

static struct pgt_arm64_regs first_stage(const struct registers *r, bool half[2])
{
	bool el2 = !strcmp(r->regime, "el2");
	struct bank b = el2 ? at_el2(r) : r->plain;

	require(&b, TCR, "which says how addresses are cut up");
	require(&b, MAIR, "which says what the memory types are");
	if (!b.given[TTBR0] && !b.given[TTBR1])
		require(&b, TTBR0, "or ttbr1, which lead to the tables");
	half[PGT_ARM64_LOWER] = b.given[TTBR0];
	half[PGT_ARM64_UPPER] = b.given[TTBR1];
	/* With E2H, EL2 has both halves and EL1's layout. */
	if (el2 && !(b.value[HCR] & HCR_E2H))
		return values(r, &b, PGT_ARM64_EL2);
	return values(r, &b, PGT_ARM64_EL1);
}

static struct pgt_arm64_regs second_stage(const struct registers *r)
{
	require(&r->plain, VTTBR, "which leads to the tables of stage 2");
	require(&r->plain, VTCR, "which says how addresses are cut up in stage 2");
	return values(r, &r->plain, PGT_ARM64_S2);
}

struct stages registers_stages(const struct registers *r)
{
	struct stages s = { .first = first_is_on(r), .second = second_is_on(r) };

	if (r->stage) {
		s.first = r->stage & 1;
		s.second = r->stage & 2;
	}
	if (s.first && !strcmp(r->regime, "s2"))
		fail("the registers contradict each other: regime s2 has no stage 1; try --regime=el1");
	if (s.second && !strcmp(r->regime, "el2"))
		fail("the registers contradict each other: regime el2 has no stage 2; try --regime=el1");
	if (!s.first && !s.second)
		s.first = true; /* and the message says what is missing */
	if (s.first)
		s.s1 = first_stage(r, s.half);
	if (s.second)
		s.s2 = second_stage(r);
	return s;
}

const char *registers_root_name(const struct pgt_arm64_regs *regs, int half)
{
	switch (regs->regime) {
	case PGT_ARM64_S2:
		return "VTTBR";
	case PGT_ARM64_EL2:
		return "TTBR0_EL2";
	default:
		return half == PGT_ARM64_UPPER ? "TTBR1" : "TTBR0";
	}
}

const char *registers_geometry(const struct pgt_arm64_regs *regs, char text[REGISTERS_TEXT])
{
	static const char *const tg0[] = { "4K", "64K", "16K", "reserved" };
	static const char *const tg1[] = { "reserved", "16K", "4K", "64K" };
	uint64_t tcr = regs->regime == PGT_ARM64_S2 ? regs->vtcr : regs->tcr;
	const char *name = regs->regime == PGT_ARM64_S2 ? "vtcr" : "tcr";
	int n = snprintf(text, REGISTERS_TEXT, "%s 0x%" PRIx64 ": T0SZ %u, granule %s", name, tcr,
			 (unsigned)(tcr & 63), tg0[tcr >> 14 & 3]);

	if (regs->regime == PGT_ARM64_EL1)
		snprintf(text + n, (size_t)(REGISTERS_TEXT - n), "; T1SZ %u, granule %s; IPS %u",
			 (unsigned)(tcr >> 16 & 63), tg1[tcr >> 30 & 3], (unsigned)(tcr >> 32 & 7));
	else
		snprintf(text + n, (size_t)(REGISTERS_TEXT - n), "; PS %u", (unsigned)(tcr >> 16 & 7));
	return text;
}

void registers_free(struct registers *r)
{
	for (size_t i = 0; i < r->ram_count; i++)
		free(r->ram[i]);
	free(r->ram);
	*r = (struct registers){ 0 };
}
