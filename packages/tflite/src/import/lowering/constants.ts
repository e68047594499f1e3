/** Constants that the import adds, each once in a subgraph: scalars and lists. */
import type { OperandTypeName } from "@nnhal/types";
import { bytesOfFloat, bytesOfIntegers } from "../bytes.ts";
import type { Graph } from "../graph.ts";
import type { OperandSpec } from "../operand-types.ts";
import type { OperatorAccess } from "./access.ts";

/** Makes operands of constants for an operator. */
export interface AddedConstants {
  int32(value: number): number;
  bool(value: boolean): number;
  /** A float scalar of the precision of operand `like`'s elements. */
  float(value: number, like: OperandSpec): number;
  /** A one-dimensional TENSOR_INT32 constant. */
  int32Tensor(values: readonly number[]): number;
}

export function addedConstants({ graph, ensure }: OperatorAccess): AddedConstants {
  const check: OperatorAccess["ensure"] = ensure;
  return {
    int32(value) {
      check((value | 0) === value, () => `${value} is not a 32-bit integer`);
      return scalar(graph, "INT32", value, bytesOfIntegers([value]));
    },
    bool: (value) => scalar(graph, "BOOL", Number(value), Uint8Array.of(Number(value))),
    float: (value, { type }) =>
      scalar(graph, type === "TENSOR_FLOAT16" ? "FLOAT16" : "FLOAT32", value, bytesOfFloat(value, type)),
    int32Tensor(values) {
      for (const value of values) check((value | 0) === value, () => `${value} is not a 32-bit integer`);
      return graph.share(
        `TENSOR_INT32 ${values.join()}`,
        { type: "TENSOR_INT32", dimensions: [values.length], scale: 0, zeroPoint: 0 },
        bytesOfIntegers(values),
      );
    },
  };
}

function scalar(graph: Graph, type: OperandTypeName, value: number, bytes: Uint8Array): number {
  const key = `${type} ${Object.is(value, -0) ? "-0" : value}`;
  return graph.share(key, { type, dimensions: [], scale: 0, zeroPoint: 0 }, bytes);
}
