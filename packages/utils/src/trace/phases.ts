/**
 * Layers and phases of a trace: the part of the stack that runs, and the phase of a model's life that it serves
 * (Tracing.h).
 */

/** The layers, from the outermost. */
export const traceLayers = {
  /** The application. */
  LA: "Application",
  /** The runtime: models, compilations, executions. */
  LR: "Runtime",
  /** Calls that leave the process. */
  LI: "IPC",
  /** A driver. */
  LD: "Driver",
  /** The engine that computes. */
  LC: "CPU",
  /** None of these. */
  LO: "Other",
  /** Code that several layers use: its time is theirs. */
  LU: "Utility",
} as const;
export type TraceLayer = keyof typeof traceLayers;

/** The phases. */
export const tracePhases = {
  /** All that a program does. */
  PO: "Overall",
  /** Executions before the ones that count. */
  PWU: "Warm-up",
  /** Executions that count. */
  PBM: "Benchmark",
  /** Work done once and for no model: finding devices, and asking for their capabilities. */
  PI: "Initialisation",
  /** Building a model. */
  PP: "Preparation",
  /** Compiling a model. */
  PC: "Compilation",
  /** Executing a model. */
  PE: "Execution",
  /** Of an execution: placing inputs and outputs. */
  PIO: "Inputs and outputs",
  /** Of an execution: bringing data into the form that the computation needs. */
  PTR: "Transformation",
  /** Of an execution: computing. */
  PCO: "Computation",
  /** Of an execution: reading the results. */
  PR: "Results",
  /** Releasing resources. */
  PT: "Termination",
  /** That of the surrounding section. */
  PU: "Unspecified",
} as const;
export type TracePhase = keyof typeof tracePhases;

const partsOfExecution: readonly TracePhase[] = ["PIO", "PTR", "PCO", "PR"];

const partsOf: Partial<Record<TracePhase, readonly TracePhase[]>> = {
  PO: ["PWU", "PBM", "PI", "PP", "PC", "PE", "PT"],
  PWU: ["PE"],
  PBM: ["PE"],
  PE: partsOfExecution,
};

/** Returns whether a phase is a part of another, so that its sections break down the time of the other. */
export function isPartOf(part: TracePhase, whole: TracePhase): boolean {
  return partsOf[whole]?.includes(part) ?? false;
}

/** Returns whether a phase may lie inside another: it is a part of it, or a part of a part that has no section. */
export function mayLieIn(inner: TracePhase, outer: TracePhase): boolean {
  return inner === outer || isPartOf(inner, outer) || (isPartOf(inner, "PE") && isPartOf("PE", outer));
}

const depths: Partial<Record<TraceLayer, number>> = { LA: 0, LR: 1, LI: 2, LD: 3, LC: 4 };

/**
 * Returns whether a layer may be called from another, which must be further out. Utility and other code may be called
 * from anywhere.
 */
export function mayBeCalledFrom(inner: TraceLayer, outer: TraceLayer): boolean {
  const inside = depths[inner];
  const outside = depths[outer];
  return inside === undefined || outside === undefined || inside >= outside;
}
