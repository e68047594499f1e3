/**
 * Small models and devices for planning tests.
 */
import {
  type Capabilities,
  ErrorStatus,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type OperationTypeName,
  operationTypeNames,
  type PerformanceInfo,
  type Subgraph,
} from "@nnhal/types";
import type { PlanningDevice } from "./questions.ts";

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

/** Operations by name, with the names of the operands that they read and write. */
export type Sketch = readonly (readonly [name: OperationTypeName, inputs: string, outputs: string])[];

/** A subgraph from a sketch; every operand is a float tensor, but those whose names are in `special`. */
export function sketch(
  operations: Sketch,
  inputs: string,
  outputs: string,
  special: Readonly<Record<string, Partial<Operand>>> = {},
): Subgraph {
  const names: string[] = [];
  const index = (name: string) => {
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  };
  const indexes = (list: string) => list.split(" ").filter(Boolean).map(index);
  const built = operations.map(([name, read, written]) => ({
    type: OperationType[name],
    inputs: indexes(read),
    outputs: indexes(written),
  }));
  const inputIndexes = indexes(inputs);
  const outputIndexes = indexes(outputs);
  const operands = names.map((name, operand): Operand => {
    const lifetime = inputIndexes.includes(operand)
      ? OperandLifeTime.SUBGRAPH_INPUT
      : outputIndexes.includes(operand)
        ? OperandLifeTime.SUBGRAPH_OUTPUT
        : OperandLifeTime.TEMPORARY_VARIABLE;
    return {
      type: OperandType.TENSOR_FLOAT32,
      dimensions: [4],
      numberOfConsumers: built.flatMap((operation) => operation.inputs).filter((input) => input === operand).length,
      scale: 0,
      zeroPoint: 0,
      lifetime,
      location: nowhere,
      extraParams: { kind: "none" },
      ...special[name],
    };
  });
  return { operands, operations: built, inputIndexes, outputIndexes };
}

/** A model of a subgraph. */
export function modelOf(main: Subgraph, referenced: readonly Subgraph[] = [], relaxed = false): Model {
  return {
    main,
    referenced,
    operandValues: new Uint8Array(0),
    pools: [],
    relaxComputationFloat32toFloat16: relaxed,
    extensionNameToPrefix: [],
  };
}

const info = (execTime: number, powerUsage = execTime): PerformanceInfo => ({ execTime, powerUsage });

/** Capabilities that say the same of everything. */
export function capabilitiesOf(execTime: number, powerUsage = execTime): Capabilities {
  const same = info(execTime, powerUsage);
  return {
    relaxedFloat32toFloat16PerformanceScalar: same,
    relaxedFloat32toFloat16PerformanceTensor: same,
    operandPerformance: [
      { type: OperandType.TENSOR_FLOAT32, info: same },
      { type: OperandType.TENSOR_BOOL8, info: same },
    ],
    ifPerformance: same,
    whilePerformance: same,
  };
}

/** A device that takes the operations of some names, or all. */
export function deviceOf(
  name: string,
  capabilities: Capabilities,
  takes: readonly OperationTypeName[] | "all" = "all",
): PlanningDevice {
  return {
    name,
    getCapabilities: () => ({ capabilities }),
    getSupportedExtensions: () => ({ extensions: [] }),
    getSupportedOperations(model) {
      const take = ({ type }: { readonly type: number }) =>
        takes === "all" || takes.some((one) => OperationType[one] === type);
      const supported = model.main.operations.map(take);
      return {
        status: ErrorStatus.NONE,
        supported,
        reasons: model.main.operations.map((operation, index) =>
          supported[index] ? undefined : `${operationTypeNames.get(operation.type)} is not for ${name}`,
        ),
      };
    },
  };
}
