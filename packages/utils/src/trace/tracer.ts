/**
 * Sections of a trace: stretches of time in which one layer works for one phase. A section knows the one it lies in, so
 * that executions which take turns on one thread do not get mixed up.
 */
import type { TraceLayer, TracePhase } from "./phases.ts";

/**
 * How a section counts. `plain`: as it lies. `switch`: it takes over from the one before it, which ends. `subtract`: its
 * time is not that of the sections around it, up to the next of its own layer.
 */
export type SectionKind = "plain" | "switch" | "subtract";

/** A section that has begun. */
export interface Section {
  /** Begins a section inside this one. */
  begin(layer: TraceLayer, phase: TracePhase, detail: string): Section;
  /** Begins a section inside this one whose time does not belong to it: work of an outer layer that was called back. */
  beginSubtracted(layer: TraceLayer, phase: TracePhase, detail: string): Section;
  /** From here on, what runs until `end` is something else. Sections inside that are still open end. */
  switchTo(layer: TraceLayer, phase: TracePhase, detail: string): void;
  /**
   * Does some work. What a tracer begins before the work first waits lies in this section: that is how a section reaches
   * a callee whose interface cannot carry it, such as a device.
   */
  run<Result>(work: () => Result): Result;
  /** Ends the section, and those inside it that are still open. Again: nothing. */
  end(): void;
}

/** Begins sections. */
export interface Tracer {
  /** Whether anything is recorded: for what is dear to prepare, and in loops. */
  readonly isOn: boolean;
  /** Begins a section inside the one whose `run` is under way; else it stands for itself. */
  begin(layer: TraceLayer, phase: TracePhase, detail: string): Section;
  /** The same, as `Section.beginSubtracted`. */
  beginSubtracted(layer: TraceLayer, phase: TracePhase, detail: string): Section;
}

/** The section of a tracer that is off. */
export const noSection: Section = {
  begin: () => noSection,
  beginSubtracted: () => noSection,
  switchTo() {},
  run: (work) => work(),
  end() {},
};

/** A tracer that is off. */
export const noTracer: Tracer = { isOn: false, begin: () => noSection, beginSubtracted: () => noSection };

/** Does some work in a section, which ends with it: when a promise that the work gives has settled. */
export function inSection<Result>(
  tracer: Tracer | Section,
  layer: TraceLayer,
  phase: TracePhase,
  detail: string,
  work: (section: Section) => Result,
): Result {
  const section = tracer.begin(layer, phase, detail);
  if (section === noSection) return work(section);
  let isPending = false;
  try {
    const result = section.run(() => work(section));
    if (result instanceof Promise) {
      isPending = true;
      const end = () => section.end();
      result.then(end, end);
    }
    return result;
  } finally {
    if (!isPending) section.end();
  }
}

/** A section as a mark: `[NN_LC_PCO]CONV_2D`, before it `[SW]` or `[SUB]` where it switches or subtracts. */
export function sectionMark(section: {
  readonly layer: TraceLayer;
  readonly phase: TracePhase;
  readonly detail: string;
  readonly kind: SectionKind;
}): string {
  const { layer, phase, detail, kind } = section;
  const prefix = kind === "switch" ? "[SW]" : kind === "subtract" ? "[SUB]" : "";
  return `${prefix}[NN_${layer}_${phase}]${detail}`;
}
