/**
 * How fast, or how frugal, a device says it is at an operation (HAL Capabilities, as Android's runtime reads them): by the
 * type of the operation's first input; by the relaxed figures where the model lets float32 be computed as float16.
 */
import {
  type Capabilities,
  ExecutionPreference,
  type Model,
  OperandType,
  OperationType,
  type PerformanceInfo,
  type Subgraph,
} from "@nnhal/types";
import { namedSubgraphs, subgraphsInnerFirst } from "../subgraph-order.ts";

/**
 * By operation of the main subgraph: the performance of a device relative to the CPU, lower is better; Infinity where it
 * names none. IF: its own figure and the mean of its branches'. WHILE: its own, its condition's and its body's.
 */
export function performancesOf(model: Model, capabilities: Capabilities, preference: ExecutionPreference): number[] {
  const figure = (info: PerformanceInfo) =>
    preference === ExecutionPreference.LOW_POWER ? info.powerUsage : info.execTime;
  const byType = new Map(capabilities.operandPerformance.map(({ type, info }) => [type, figure(info)]));
  if (model.relaxComputationFloat32toFloat16) {
    byType.set(OperandType.FLOAT32, figure(capabilities.relaxedFloat32toFloat16PerformanceScalar));
    byType.set(OperandType.TENSOR_FLOAT32, figure(capabilities.relaxedFloat32toFloat16PerformanceTensor));
  }
  /** Sum over the operations of a referenced subgraph, by its index. */
  const sums = new Map<number, number>();
  const performancesIn = (subgraph: Subgraph) =>
    subgraph.operations.map(({ type, inputs }, index) => {
      const inside = () => namedSubgraphs(subgraph, index).map((named) => sums.get(named) ?? 0);
      if (type === OperationType.IF) {
        const branches = inside();
        return figure(capabilities.ifPerformance) + total(branches) / branches.length;
      }
      if (type === OperationType.WHILE) return figure(capabilities.whilePerformance) + total(inside());
      const [first] = inputs;
      return (first !== undefined && byType.get(subgraph.operands[first].type)) || Number.POSITIVE_INFINITY;
    });
  for (const index of subgraphsInnerFirst(model)) sums.set(index, total(performancesIn(model.referenced[index])));
  return performancesIn(model.main);
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
