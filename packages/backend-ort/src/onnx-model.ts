/**
 * A subgraph as a file of ONNX: what this backend gives to onnxruntime, for those who want to run or inspect it without the backend.
 */
import { type GraphView, staticExtents } from "@nnhal/backend";
import { loadOrt } from "./engine.ts";
import { chooseForms, type Forms, portableForms } from "./forms.ts";
import { lowerGraph, modelOf } from "./lower.ts";
import { checkEngine } from "./self-check/probes.ts";

/** Options of `onnxModelOf`. */
export interface OnnxModelOptions {
  /**
   * The forms of operators. Default: unsigned weights, which are exact on every processor that was tried, though slower on those with
   * instructions for signed ones.
   */
  readonly forms?: Forms | undefined;
}

/**
 * The bytes of the ONNX model of a graph. Its inputs and outputs are those of the graph, in order, with the types and layouts of the
 * operands. Throws an Error with the reason if an operation cannot be expressed, or if an extent of an input is unknown.
 */
export function onnxModelOf(graph: GraphView, { forms = portableForms }: OnnxModelOptions = {}): Uint8Array {
  const extents = staticExtents(graph);
  if (extents === undefined) throw new Error("the model leaves extents of its inputs open");
  return modelOf(lowerGraph(graph, extents, forms));
}

/** The forms that the device uses on this processor: the fastest ones that its self-check found right. Without onnxruntime: the default ones. */
export async function formsOfThisProcessor(): Promise<Forms> {
  const ort = await loadOrt();
  return "unavailable" in ort ? portableForms : chooseForms(await checkEngine(ort));
}
