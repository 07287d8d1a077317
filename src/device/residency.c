/*
 * device/residency.c - which lists of points a device keeps
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/residency.h"

#define WORTH 16u /* a list's part of which less does not stay */

residency_hold residency_hold_of(const residency *r)
{
    if (r->users != 0 || r->always) return RESIDENCY_HELD;
    return r->wanted ? RESIDENCY_WANTED : RESIDENCY_IDLE;
}

bool residency_goes_before(const residency *a, const residency *b)
{
    residency_hold x = residency_hold_of(a), y = residency_hold_of(b);

    if (x != y) return x < y;
    if (a->set == b->set && a->set != 0) return a->last_use > b->last_use;
    return a->set_use < b->set_use;
}

/* What a proof takes at most. */
static size_t work_of(const residency_room *r)
{
    size_t most = r->during < r->limit ? (r->limit - r->during) / 2 : 0;
    size_t sums = r->during + (r->plan < most ? r->plan : most);

    return sums > r->beside ? sums : r->beside;
}

size_t residency_points(const residency_room *r, size_t n, size_t size)
{
    size_t left = r->limit, work = work_of(r), taken = r->others + r->of_set, points;

    if (work <= left / 10 * 3) work *= 2;
    if (work >= left) return 0;
    left -= work;
    if (taken < r->others || taken >= left) return 0;
    points = (left - taken) / size;
    if (points >= n) return n;
    return points < n / WORTH ? 0 : points;
}
