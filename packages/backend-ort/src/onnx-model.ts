/**
 * A subgraph as a file of ONNX: what this backend gives to onnxruntime, for those who want to run or inspect it without the backend.
 */
import type { GraphView } from "@nnhal/backend";
import { staticExtents } from "./executable.ts";
import { lowerGraph, modelOf } from "./lower.ts";

/**
 * The bytes of the ONNX model of a graph. Its inputs and outputs are those of the graph, in order, with the types and layouts of the
 * operands. Throws an Error with the reason if an operation cannot be expressed, or if an extent of an input is unknown.
 */
export function onnxModelOf(graph: GraphView): Uint8Array {
  const extents = staticExtents(graph);
  if (extents === undefined) throw new Error("the model leaves extents of its inputs open");
  return modelOf(lowerGraph(graph, extents));
}
