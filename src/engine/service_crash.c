/*
 * engine/service_crash.c - jobs that were at work when the process before this one died: suspected, cleared or given up
 *
 * What is counted, and how, is at_work.h's. Here: it is said, those that are suspected come first and run alone, and one that
 * has used up its lives fails before it takes the process down again. Asked for once more, it has one more life.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "engine/service.h"

static void tell(service *s)
{
    const work_before *b = &s->before;
    cuzk_log_field f[] = {{"how", work_end_name(b->end), 0},
                          {"signal", NULL, b->signal},
                          {"jobs_at_work", NULL, b->jobs}};
    cuzk_error e = {.status = CUZK_EIO, .klass = CUZK_CLASS_RESOURCE, .where = "daemon"};

    if (b->end == WORK_ENDED) return;
    svc_log(s, b->end == WORK_KILLED ? CUZK_LOG_WARN : CUZK_LOG_ERROR,
            b->end == WORK_KILLED ? "was_killed" : "crashed", f, 3);
    if (b->end == WORK_KILLED) return;
    if (b->end == WORK_CRASHED) e.klass = CUZK_CLASS_BUG;
    (void)snprintf(e.message, sizeof e.message,
                   "the daemon before this one ended: %s (signal %d), while %u jobs were at work",
                   work_end_name(b->end), b->signal, b->jobs);
    svc_lock(s);
    svc_note_error(s, NULL, &e);
    svc_unlock(s);
}

void svc_crash_open(service *s)
{
    char path[4096 + 8];
    int n;
    cuzk_status st;

    if (s->store == NULL) return;
    n = snprintf(path, sizeof path, "%s.work", s->c.store);
    if (n < 0 || (size_t)n >= sizeof path)
        st = FAIL(CUZK_EINVAL, "%s: name too long", s->c.store);
    else
        st = at_work_open(&s->at_work, path, s->m, &s->before);
    if (st != CUZK_OK) { /* the service is as good without it */
        cuzk_log_field f[] = {{"message", cuzk_last_error()->message, 0}};

        svc_log(s, CUZK_LOG_WARN, "work_not_counted", f, 1);
        return;
    }
    tell(s);
}

static void say_why(cuzk_error *why, const work_strikes *k)
{
    bool memory = k->last == WORK_OUT_OF_MEMORY;

    *why = (cuzk_error){.status = memory ? CUZK_ENOMEM : CUZK_EBUG,
                        .klass = memory ? CUZK_CLASS_RESOURCE : CUZK_CLASS_BUG,
                        .where = "job"};
    (void)snprintf(why->message, sizeof why->message,
                   "it was at work each of the last %u times that the daemon died, and got no "
                   "further in between (the last time: %s, signal %d): given up. Sent again, it is "
                   "tried once more, alone (jobs.max_crashes)",
                   k->deaths, work_end_name(k->last), k->signal);
}

bool svc_crash_judge(svc_job *j, bool again, cuzk_error *why)
{
    service *s = j->s;
    work_strikes k = at_work_strikes(s->at_work, j->job_id);
    cuzk_log_field f[] = {{"job", j->job_id, 0},
                          {"deaths", NULL, k.deaths},
                          {"last", work_end_name(k.last), 0},
                          {"signal", NULL, k.signal}};
    unsigned max;
    bool used_up;

    svc_lock(s);
    max = s->tunables.max_crashes;
    used_up = max != 0 && k.quarters >= max * AT_WORK_STRIKE;
    j->held = k.quarters != 0;
    j->suspect = max != 0 && k.quarters >= AT_WORK_STRIKE;
    if (used_up && !again) {
        j->held = j->suspect = false; /* it stays so, for when it is asked for again */
        s->counts.given_up++;
    }
    svc_unlock(s);
    if (used_up && again) at_work_forgive(s->at_work, j->job_id, (max - 1) * AT_WORK_STRIKE);
    if (used_up && !again) {
        say_why(why, &k);
        svc_log(s, CUZK_LOG_ERROR, "job_given_up", f, 4);
        return false;
    }
    if (j->suspect) svc_log(s, CUZK_LOG_WARN, "job_suspected", f, 4);
    return true;
}

void svc_crash_further(svc_job *j)
{
    if (j->held) at_work_forgive(j->s->at_work, j->job_id, j->suspect ? AT_WORK_STRIKE : 0);
}

void svc_crash_clear(svc_job *j)
{
    if (j->held) at_work_forgive(j->s->at_work, j->job_id, 0);
    j->held = false;
}

void cuzk_service_crashed(const cuzk_service *svc, int signal)
{
    const service *s = (const service *)(const void *)svc;

    at_work_crashed(s->at_work, signal);
}
