/**
 * Where a contestant runs and is measured: in a process of its own, or in this one.
 */
import { setTimeout } from "node:timers/promises";
import type { Unavailable } from "@nnhal/backend";
import { CannotRun, type Contestant, type OpenContestant, type Ready } from "./contestant.ts";
import { createMemoryMeter, heapForEachRun, type MemoryMeter } from "./memory.ts";
import { settle } from "./settle.ts";
import { type WarmUp, warmUp } from "./warm-up.ts";

/** Facts of a contestant whose libraries are loaded. */
export interface Opened extends Pick<Contestant, "version" | "settings" | "threads" | "isElsewhere"> {
  /** Milliseconds of loading. */
  readonly milliseconds: number;
}

/** A network that a contestant has prepared, and run once. */
export interface Prepared {
  /** Milliseconds from the bytes of the file to the network that is ready to run. */
  readonly milliseconds: number;
  readonly keeps: boolean;
  /** Milliseconds of the first run. */
  readonly first: number;
  /** Outputs of the first run. */
  readonly outputs: readonly Uint8Array[];
}

/** Why a network cannot be prepared. */
export interface Refused {
  readonly cannot: string;
}

/** Runs one after the other. */
export interface Turn {
  /** Milliseconds of each. */
  readonly times: readonly number[];
  /** Milliseconds of processors that this process used for all of them. */
  readonly cpu: number;
}

/** Measurements at the end. */
export interface Footprint {
  /** Bytes by which the process has grown at most since the libraries were loaded; null if other work shares the process. */
  readonly memory: number | null;
  /** Bytes of JavaScript heap that a run allocates; null as above. */
  readonly heap: number | null;
  /** Outputs of the last run. */
  readonly outputs: readonly Uint8Array[];
}

/**
 * Calls come one after the other, in this order; `run` any number of times. Those that compute resolve when the process no longer does.
 * Calls reject if the process is gone.
 */
export interface Station {
  open(): Promise<Opened | Unavailable>;
  prepare(): Promise<Prepared | Refused>;
  warmUp(): Promise<WarmUp>;
  run(count: number): Promise<Turn>;
  finish(): Promise<Footprint>;
  close(): Promise<void>;
}

/** Options of measuring. */
export interface StationOptions {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** True if nothing else runs in this process, so that its memory is that of the contestant. */
  readonly alone: boolean;
}

/** A station in this process. */
export function createStation(open: OpenContestant, { now, alone }: StationOptions): Station {
  let contestant: Contestant | undefined;
  let ready: Ready | undefined;
  let memory: MemoryMeter | undefined;
  /** Milliseconds of the fastest run. */
  let least = 0;
  const idle = () => settle({ now, readUsed: processorTime, sleep: setTimeout });
  const prepared = () => {
    if (ready === undefined) throw new Error("a contestant was asked to run before it was prepared");
    return ready;
  };
  return {
    async open() {
      const start = now();
      const opened = await open();
      if ("unavailable" in opened) return opened;
      contestant = opened;
      const { version, settings, threads, isElsewhere = false } = opened;
      return { version, settings, threads, isElsewhere, milliseconds: now() - start };
    },
    async prepare() {
      if (contestant === undefined) throw new Error("a contestant was asked to prepare before it was opened");
      if (alone) memory = createMemoryMeter();
      const start = now();
      try {
        ready = await contestant.prepare();
      } catch (error) {
        if (error instanceof CannotRun) return { cannot: error.message };
        throw error;
      }
      const milliseconds = now() - start;
      const begin = now();
      await ready.run();
      const first = now() - begin;
      await idle();
      return { milliseconds, keeps: ready.keeps, first, outputs: copies(ready.outputs()) };
    },
    async warmUp() {
      const result = await warmUp(() => prepared().run(), now);
      least = result.least;
      await idle();
      return result;
    },
    async run(count) {
      const one = prepared();
      // Others have run in between: their data is in the processor's caches.
      await one.run();
      const times: number[] = [];
      const before = processorTime();
      for (let done = 0; done < count; done++) {
        const start = now();
        await one.run();
        times.push(now() - start);
      }
      const cpu = processorTime() - before;
      await idle();
      return { times, cpu };
    },
    async finish() {
      const one = prepared();
      const outputs = copies(one.outputs());
      const growth = memory?.growth() ?? null;
      return { memory: growth, heap: alone ? await heapForEachRun(() => one.run(), least) : null, outputs };
    },
    async close() {
      await ready?.close();
    },
  };
}

/** Milliseconds of processors that this process has used. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function copies(arrays: readonly Uint8Array[]): Uint8Array[] {
  return arrays.map((bytes) => bytes.slice());
}
