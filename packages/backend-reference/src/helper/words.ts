/** The numbers that threads share: their places in an Int32Array. Those that many threads change have a line of the cache each. */
export const words = {
  /** Messages that were sent to each thread: a thread that has had fewer looks for the next one. */
  command: 0,
  /** The work: its kernel and its number. They do not change while a range is left or not done, nor do the others up to `failed`. */
  kernel: 1,
  task: 2,
  /** The units that are divided into ranges, and those of a range. */
  begin: 3,
  end: 4,
  perRange: 5,
  /** 1 after a range has thrown. */
  failed: 6,
  /** The ranges that are not taken yet, beside a number that changes with the work: see `mostRanges`. The thread that lowers it by one has the last of them. */
  left: 16,
  /** Ranges that are computed. */
  done: 32,
  /** Changes when there is work, or a message. Threads sleep on it. */
  signal: 48,
  /** Threads that sleep, or are about to. */
  sleeping: 64,
  /** 1 while the first thread sleeps on `done`. */
  waiting: 80,
  /** The pieces of memory of the kernel's tensors, by their numbers: inputs, then outputs. */
  pieces: 96,
} as const;

/** The most tensors of a kernel, beside constants. */
export const mostPieces = 64;

/** The length of the array. */
export const wordCount = words.pieces + mostPieces;

/** The most ranges of `left`, and the bits that have their number. */
export const mostRanges = 0xfff;
