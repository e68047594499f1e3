/**
 * Operations whose results are known when a plan is made: of RANK only the shape of its input counts, and of those with shapes that depend on data all inputs may be
 * constant. The reference computes them then, and what follows has known shapes.
 */
import { bindArgumentsOf, type KernelTensor, type OperationView } from "@nnhal/backend";
import {
  type AnyOutputs,
  bindOutputs,
  createData,
  elementAt,
  elementCount,
  type OutputTensor,
  runToEnd,
} from "@nnhal/operations";
import type { Builder } from "./builder.ts";
import type { Planned } from "./control.ts";
import { refuse } from "./refusal.ts";

/** More numbers than this would keep the event loop waiting. */
const mostNumbers = 4096;

/** The results of an operation and their elements; undefined if they are not known when a plan is made. */
export function foldOperation(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  builder: Builder,
): Required<Planned> | undefined {
  const { definition, match } = view;
  const isKnown = (tensor: KernelTensor | undefined) => tensor === undefined || tensor.data !== undefined;
  const isConstant = definition.dynamic && tensors.every(isKnown);
  if (definition.reference === undefined || (definition.name !== "RANK" && !isConstant)) return undefined;
  const count = tensors.reduce((sum, tensor) => sum + elementCount(tensor?.dimensions ?? []), 0);
  if (isConstant && count > mostNumbers)
    refuse(`constants of ${count} elements are too large to compute with them now`);
  const { args, outputs } = bindArgumentsOf(view, tensors);
  const results = outputs.map(
    (info): OutputTensor => ({ ...info, data: createData(info.type, elementCount(info.dimensions)) }),
  );
  // The arguments are constants, and the results tensors, under the names that the operation has for them.
  runToEnd(definition.reference(args, bindOutputs(match.form, results) as AnyOutputs, { random: () => 0 }));
  const values = results.map((result, place) =>
    builder.read({ ...result, index: elementAt(view.outputs, place).index }),
  );
  return { infos: results, values, data: results.map(({ data }) => data) };
}
