/** A tracer that records sections with their times, for the exporters. */
import { elementAt } from "@nnhal/operations";
import type { TraceLayer, TracePhase } from "./phases.ts";
import { noSection, type Section, type SectionKind, type Tracer } from "./tracer.ts";

/** A recorded section. */
export interface RecordedSection {
  readonly layer: TraceLayer;
  readonly phase: TracePhase;
  readonly detail: string;
  readonly kind: SectionKind;
  /** Index of the enclosing section in the list; -1 if there is none. Always less than the section's own index. */
  readonly parent: number;
  /**
   * Sections of one lane are nested or follow one another. Sections that run at the same time have different lanes.
   * From 0.
   */
  readonly lane: number;
  /** Nanoseconds since the recorder was made. */
  readonly start: number;
  readonly end: number;
  /** True if it had not ended when it was read. */
  readonly isOpen: boolean;
}

/** A recorded trace. */
export interface Trace {
  /** In the order in which they began. */
  readonly sections: readonly RecordedSection[];
  /** The number of sections beyond the limit. */
  readonly dropped: number;
}

/** Options of a recorder. */
export interface TraceRecorderOptions {
  /** A monotonic clock in nanoseconds. Default: `performance.now`. */
  readonly now?: (() => bigint) | undefined;
  /** Maximum number of sections to keep; later ones are only counted. Default: 1,000,000. */
  readonly limit?: number | undefined;
}

/** A tracer that records. It is off until `start`. */
export interface TraceRecorder extends Tracer {
  start(): void;
  /** Stops the recording of new sections; open sections end as usual. */
  stop(): void;
  /** Returns the trace so far. Open sections end now. */
  read(): Trace;
}

interface Entry {
  readonly layer: TraceLayer;
  readonly phase: TracePhase;
  readonly detail: string;
  readonly kind: SectionKind;
  readonly parent: number;
  readonly lane: number;
  readonly start: number;
  end: number | undefined;
}

const mostSections = 1_000_000;

/** A recorder. */
export function createTraceRecorder(options: TraceRecorderOptions = {}): TraceRecorder {
  const { now = steadyNow, limit = mostSections } = options;
  const origin = now();
  const entries: Entry[] = [];
  const busyLanes: boolean[] = [];
  let dropped = 0;
  let isOn = false;
  /** The section whose `run` is active. */
  let current: OpenSection | undefined;

  const time = () => Number(now() - origin);

  /** A section that has not ended. */
  class OpenSection implements Section {
    /** Index of its entry; a switch changes it. */
    #place: number;
    readonly #parent: OpenSection | undefined;
    /** True if this section acquired the lane and frees it at its end. */
    readonly #ownsLane: boolean;
    readonly #lane: number;
    readonly #inside = new Set<OpenSection>();
    #hasEnded = false;

    constructor(
      parent: OpenSection | undefined,
      layer: TraceLayer,
      phase: TracePhase,
      detail: string,
      kind: SectionKind,
    ) {
      this.#parent = parent;
      this.#ownsLane = parent === undefined || parent.#inside.size > 0;
      this.#lane = parent === undefined || this.#ownsLane ? takeLane(busyLanes) : parent.#lane;
      if (parent !== undefined) parent.#inside.add(this);
      this.#place = this.#record(layer, phase, detail, kind);
    }

    begin(layer: TraceLayer, phase: TracePhase, detail: string): Section {
      return open(this.lastOpen(), layer, phase, detail, "plain");
    }

    beginSubtracted(layer: TraceLayer, phase: TracePhase, detail: string): Section {
      return open(this.lastOpen(), layer, phase, detail, "subtract");
    }

    switchTo(layer: TraceLayer, phase: TracePhase, detail: string): void {
      if (this.#hasEnded) return;
      this.#close();
      if (entries.length < limit) this.#place = this.#record(layer, phase, detail, "switch");
      else dropped++;
    }

    run<Result>(work: () => Result): Result {
      const before = current;
      current = this;
      try {
        return work();
      } finally {
        current = before;
      }
    }

    end(): void {
      if (this.#hasEnded) return;
      this.#close();
      this.#hasEnded = true;
      if (this.#parent !== undefined) this.#parent.#inside.delete(this);
      if (this.#ownsLane) busyLanes[this.#lane] = false;
    }

    /** A section that has ended can no longer contain others: the one around it does. */
    lastOpen(): OpenSection | undefined {
      return this.#hasEnded ? this.#parent?.lastOpen() : this;
    }

    #record(layer: TraceLayer, phase: TracePhase, detail: string, kind: SectionKind): number {
      const parent = this.#parent === undefined ? -1 : this.#parent.#place;
      const entry: Entry = { layer, phase, detail, kind, parent, lane: this.#lane, start: time(), end: undefined };
      return entries.push(entry) - 1;
    }

    #close(): void {
      for (const section of this.#inside) section.end();
      elementAt(entries, this.#place).end ??= time();
    }
  }

  function open(
    parent: OpenSection | undefined,
    layer: TraceLayer,
    phase: TracePhase,
    detail: string,
    kind: SectionKind,
  ): Section {
    if (!isOn) return noSection;
    if (entries.length < limit) return new OpenSection(parent, layer, phase, detail, kind);
    dropped++;
    return noSection;
  }

  return {
    get isOn() {
      return isOn;
    },
    begin: (layer, phase, detail) => open(current?.lastOpen(), layer, phase, detail, "plain"),
    beginSubtracted: (layer, phase, detail) => open(current?.lastOpen(), layer, phase, detail, "subtract"),
    start() {
      isOn = true;
    },
    stop() {
      isOn = false;
    },
    read() {
      const end = time();
      const sections = entries.map((entry) => ({ ...entry, end: entry.end ?? end, isOpen: entry.end === undefined }));
      return { sections, dropped };
    },
  };
}

/** Takes the first lane that is not busy, or a new one. */
function takeLane(busyLanes: boolean[]): number {
  const free = busyLanes.indexOf(false);
  const lane = free < 0 ? busyLanes.length : free;
  busyLanes[lane] = true;
  return lane;
}

/** Nanoseconds of the clock that Node.js and browsers share. */
function steadyNow(): bigint {
  return BigInt(Math.round(performance.now() * 1e6));
}
