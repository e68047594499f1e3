/**
 * @nnhal/utils/time: the steady clock, timers, turns of the event loop, waits with a limit, and locks. Durations and times are nanoseconds.
 */
export { type IdleWatch, type IdleWatchOptions, watchIdle } from "./idle.ts";
export { createMutex, type Exclusive } from "./mutex.ts";
export { steadyClock } from "./steady-clock.ts";
export { type Clock, callAfter, callAt, systemTimer, type Timer } from "./timer.ts";
export { callSoon, nextTurn } from "./turn.ts";
export { endBy, endsWithin, within } from "./wait.ts";
