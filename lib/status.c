/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "pgt.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *pgt_version(void)
{
	return TEXT(PGT_VERSION_MAJOR) "." TEXT(PGT_VERSION_MINOR) "." TEXT(PGT_VERSION_PATCH);
}

const char *pgt_strerror(int status)
{
	switch (status) {
	case PGT_OK: return "success";
	case PGT_EINVAL: return "malformed request";
	case PGT_EALIGN: return "address or length is not a multiple of the granule";
	case PGT_ERANGE: return "outside the input or output range";
	case PGT_EEXIST: return "something is mapped there already";
	case PGT_ENOENT: return "nothing is mapped there";
	case PGT_ENOMEM: return "no memory for a table";
	case PGT_EBLOCK: return "a larger leaf or a run would have to be split";
	case PGT_ENOTSUP: return "not supported by this format or configuration";
	case PGT_EACCES: return "the mapping forbids this access";
	case PGT_EFAULT: return "the access faults";
	case PGT_ECORRUPT: return "a table is corrupt or in unknown memory";
	case PGT_EBUSY: return "changing call from a callback of a changing call";
	case PGT_EBREAK: return "a valid entry would have to be broken first";
	default: return status < 0 ? "unknown error" : "unknown status";
	}
}
