/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into a command: what adjtimex(2) says of a clock that is kept to within 1.5 ms, or, with CLOCK_KEPT=no, of
 * one that nothing keeps. The machine's own is neither asked nor touched.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

int adjtimex(struct timex *state)
{
	const char *kept = getenv("CLOCK_KEPT");
	int is_kept = !kept || strcmp(kept, "no") != 0;

	memset(state, 0, sizeof(*state));
	state->status = is_kept ? STA_PLL : STA_UNSYNC;
	state->maxerror = is_kept ? 1500 : 16000000;
	return is_kept ? TIME_OK : TIME_ERROR;
}
