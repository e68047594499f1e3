/** Which regions steps read and write. */

import { type Expression, nodesOf } from "./expression.ts";
import { isControl, partsOf, type Region, type Step } from "./plan.ts";

/** The regions that a step reads, constants and those of its expressions among them. */
export function readsOf(step: Step): readonly Region[] {
  if (isControl(step)) return [...new Set([step.condition, ...partsOf(step).flat().flatMap(readsOf)])];
  switch (step.kind) {
    case "elementwise":
      return [...step.operands.map(({ region }) => region), ...channelsOf(step.value)];
    case "product":
      return [
        step.source.region,
        step.weights,
        step.bias,
        ...step.operands.map(({ region }) => region),
        ...channelsOf(step.value),
      ];
    case "depthwise":
      return [
        step.source.region,
        step.weights,
        step.bias,
        ...step.operands.map(({ region }) => region),
        ...channelsOf(step.value),
      ];
    case "table":
      return [step.source, step.table];
    case "resize":
      return [step.source.region, step.rows, step.columns];
    case "move":
      return [step.source.region];
    case "pool":
      return step.cells?.begun === undefined ? [step.source.region] : [step.source.region, step.cells.begun];
    case "reduce":
      return step.begun === undefined ? [step.source.region] : [step.source.region, step.begun.region];
    case "routine":
      return step.reads.map(({ region }) => region);
    case "repeat":
      return [...new Set([step.turn, ...step.steps.flatMap(readsOf)])];
  }
}

/** The regions that a step writes: its results, and room that it needs meanwhile. */
export function writesOf(step: Step): readonly Region[] {
  if (isControl(step)) return [...new Set(partsOf(step).flat().flatMap(writesOf))];
  if (step.kind === "repeat") return [...new Set([step.turn, ...step.steps.flatMap(writesOf)])];
  if (step.kind === "product" && step.scratch !== undefined) return [step.target.region, step.scratch];
  if (step.kind === "routine" && step.state !== undefined) return [...resultsOf(step), step.state];
  return resultsOf(step);
}

/** The regions of the results. */
export function resultsOf(step: Step): readonly Region[] {
  if (isControl(step)) return [...new Set(partsOf(step).flat().flatMap(resultsOf))];
  switch (step.kind) {
    case "table":
      return [step.target];
    case "routine":
      return step.writes.map(({ region }) => region);
    case "repeat":
      return [...new Set(step.steps.flatMap(resultsOf))];
    default:
      return [step.target.region];
  }
}

function channelsOf(value: Expression): Region[] {
  const regions = [...nodesOf(value)].map(({ kind, region }) => (kind === "channel" ? region : undefined));
  return [...new Set(regions.filter((region) => region !== undefined))];
}
