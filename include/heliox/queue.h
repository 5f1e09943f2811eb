// SPDX-License-Identifier: Apache-2.0
/// @file
/// Queues of runs: what is enqueued runs in order while the caller goes on; events order several queues.
#ifndef HELIOX_QUEUE_H
#define HELIOX_QUEUE_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs in order, on a thread of the queue's own. All functions may be called from any thread. A process that forks
/// uses its queues in the parent alone.
typedef struct hx_queue_of_runs hx_queue_t;
/// A point on a queue. Reference-counted.
typedef struct hx_point hx_event_t;

/// An empty queue with a thread of its own.
HX_API HX_MUST_USE hx_status_t hx_queue_create(hx_queue_t **out, hx_report_t *report);
/// Waits for all that was enqueued; the opposite of cancelling.
HX_API void hx_queue_release(hx_queue_t *queue);

/// hx_run_with, later. Returns once it is enqueued.
///
/// @param inputs  [input count] read when the run begins, and not before, so that the outputs of a run before it may be
///                its inputs. Array and values live until then; the queue retains the values while the run is on
/// @param outputs [output count] as in hx_run; read when the run begins, written when it is over, and alive until then
/// @param options copied; NULL: none. Its functions are called on the queue's thread
/// @retval HX_STATUS_OK enqueued. What goes wrong later is told by the next hx_queue_sync: the first run that failed,
/// with
///         its faults. Runs behind it are left out until hx_queue_reset; their outputs are untouched
HX_API HX_MUST_USE hx_status_t hx_run_async(hx_queue_t *queue, hx_executable_t *executable,
                                            const hx_value_t *const *inputs, hx_value_t **outputs,
                                            const hx_run_options_t *options, hx_report_t *report);

/// The point behind all that is enqueued now. It is passed whatever became of the runs before it.
HX_API HX_MUST_USE hx_status_t hx_queue_record(hx_queue_t *queue, hx_event_t **out, hx_report_t *report);
/// What is enqueued behind this waits until the point (of any queue; retained) is passed.
HX_API HX_MUST_USE hx_status_t hx_queue_wait(hx_queue_t *queue, hx_event_t *event, hx_report_t *report);
/// True once all that was queued before it is done.
HX_API bool hx_event_is_passed(hx_event_t *event);
/// Waits until it is passed.
HX_API void hx_event_wait(hx_event_t *event);
/// Frees it; NULL is allowed.
HX_API void hx_event_release(hx_event_t *event);

/// Waits for all that was enqueued.
/// @return the status of the first run that failed since the last call, with its faults in the report; else
/// HX_STATUS_OK
HX_API HX_MUST_USE hx_status_t hx_queue_sync(hx_queue_t *queue, hx_report_t *report);
/// Asks the run that is on to stop and leaves out all runs that wait; returns at once. Points are passed and waited for
/// as ever. The queue has failed then (cancelled) until it is reset. Nothing happens where nothing is enqueued.
HX_API void hx_queue_cancel(hx_queue_t *queue);
/// Waits, forgets failures and serves again.
HX_API void hx_queue_reset(hx_queue_t *queue);

#ifdef __cplusplus
}
#endif
#endif
