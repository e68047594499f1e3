/** The numbers that the threads of a team share: their places in an Int32Array. Those that many threads change have a line of the cache each. */
export const words = {
  /** Messages that were sent to each thread: a thread that has had fewer looks for the next one. */
  command: 0,
  /** The step: its program, its number there, its units and the parts that they are divided into. They do not change while a part is left or not done. */
  program: 1,
  step: 2,
  begin: 3,
  units: 4,
  parts: 5,
  /** 1 after a part has thrown. */
  failed: 6,
  /** Parts that are not taken yet. The thread that lowers it by one has the part of the new number. */
  left: 16,
  /** Parts that are computed. */
  done: 32,
  /** Changes when there is work, or a message. Threads sleep on it. */
  signal: 48,
  /** Threads that sleep, or are about to. */
  sleeping: 64,
  /** 1 while the first thread sleeps on `done`. */
  waiting: 80,
} as const;

/** The length of the array. */
export const wordCount = 96;
