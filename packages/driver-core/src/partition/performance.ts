/**
 * The declared performance of a device for an operation (HAL Capabilities, as Android's runtime reads them): by the
 * type of the operation's first input; the relaxed figures if the model lets float32 be computed as float16.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Capabilities,
  ExecutionPreference,
  type Model,
  OperandType,
  OperationType,
  type PerformanceInfo,
  type Subgraph,
} from "@nnhal/types";
import { isExtensionOperandType } from "@nnhal/utils";
import { namedSubgraphs, subgraphsInnerFirst } from "../subgraph-order.ts";
import type { CostModel } from "./policy.ts";
import { timeOf } from "./work.ts";

/** The performance assumed for devices that declare none: worse than any declared one. */
const UNNAMED_PERFORMANCE = 1e6;

/** A device's declared performance for one operation. */
export interface Performance {
  /**
   * Relative to the CPU, lower is better; Infinity if the device declares none. IF: its own figure plus the mean of its
   * branches. WHILE: its own figure plus its condition and its body.
   */
  readonly performance: number;
  /** Predicted nanoseconds. IF: the mean of its branches. WHILE: one turn. */
  readonly predictedTime: number;
}

/** A device's declared performance for the operations of the main subgraph. */
export function performancesOf(
  model: Model,
  capabilities: Capabilities,
  preference: ExecutionPreference,
  costs: CostModel,
): Performance[] {
  const figure = (info: PerformanceInfo) =>
    preference === ExecutionPreference.LOW_POWER ? info.powerUsage : info.execTime;
  const byType = new Map(capabilities.operandPerformance.map(({ type, info }) => [type, figure(info)]));
  if (model.relaxComputationFloat32toFloat16) {
    byType.set(OperandType.FLOAT32, figure(capabilities.relaxedFloat32toFloat16PerformanceScalar));
    byType.set(OperandType.TENSOR_FLOAT32, figure(capabilities.relaxedFloat32toFloat16PerformanceTensor));
  }
  // Capabilities have no types of extensions: a device computes with them as with float32.
  const figureOf = (type: number) =>
    byType.get(type) ?? (isExtensionOperandType(type) ? byType.get(OperandType.TENSOR_FLOAT32) : undefined);
  /** Sums over the operations of a referenced subgraph, by its index. */
  const sums = new Map<number, Performance>();
  const performancesIn = (subgraph: Subgraph) =>
    subgraph.operations.map(({ type, inputs }, index): Performance => {
      if (type === OperationType.IF || type === OperationType.WHILE) {
        const named = namedSubgraphs(subgraph, index).map((one) => sums.get(one) ?? nothing);
        const inside = total(named);
        if (type === OperationType.WHILE) {
          return { ...inside, performance: figure(capabilities.whilePerformance) + inside.performance };
        }
        const branches = Math.max(1, named.length);
        return {
          performance: figure(capabilities.ifPerformance) + inside.performance / branches,
          predictedTime: inside.predictedTime / branches,
        };
      }
      const [first] = inputs;
      const named =
        (first !== undefined && figureOf(elementAt(subgraph.operands, first).type)) || Number.POSITIVE_INFINITY;
      const computing = timeOf(subgraph, index, costs) * Math.min(named, UNNAMED_PERFORMANCE);
      return { performance: named, predictedTime: costs.operation + computing };
    });
  for (const index of subgraphsInnerFirst(model))
    sums.set(index, total(performancesIn(elementAt(model.referenced, index))));
  return performancesIn(model.main);
}

const nothing: Performance = { performance: 0, predictedTime: 0 };

function total(performances: readonly Performance[]): Performance {
  return performances.reduce(
    (sum, { performance, predictedTime }) => ({
      performance: sum.performance + performance,
      predictedTime: sum.predictedTime + predictedTime,
    }),
    nothing,
  );
}
