/**
 * Sections of a trace: stretches of time in which one layer works for one phase. A section knows the one it lies in, so
 * that executions which alternate on one thread are kept apart.
 */
import type { TraceLayer, TracePhase } from "./phases.ts";

/**
 * Effect of a section on the times. `plain`: counts its duration. `switch`: ends and replaces the section before it.
 * `subtract`: its time is subtracted from the sections around it, up to the next of its layer.
 */
export type SectionKind = "plain" | "switch" | "subtract";

/** An open section. */
export interface Section {
  /** Begins a section inside this one. */
  begin(layer: TraceLayer, phase: TracePhase, detail: string): Section;
  /** Begins a section inside this one whose time does not belong to it: work of an outer layer that was called back. */
  beginSubtracted(layer: TraceLayer, phase: TracePhase, detail: string): Section;
  /** Ends this section and begins another in its place, until `end`. Open sections inside it end too. */
  switchTo(layer: TraceLayer, phase: TracePhase, detail: string): void;
  /**
   * Runs some work. Sections that the tracer begins before the work's first wait lie in this section. This passes a
   * section to a callee whose interface cannot carry it, such as a device.
   */
  run<Result>(work: () => Result): Result;
  /** Ends the section, and those inside it that are still open. A second call has no effect. */
  end(): void;
}

/** Begins sections. */
export interface Tracer {
  /** True if anything is recorded. Check it before expensive preparation, and in loops. */
  readonly isOn: boolean;
  /** Begins a section inside the one whose `run` is active, or a root section if there is none. */
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

/** Runs work inside a section. The section ends when the work ends; if the work returns a promise, when it settles. */
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

/** A section as a mark: `[NN_LC_PCO]CONV_2D`, with the prefix `[SW]` or `[SUB]` if it switches or subtracts. */
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
