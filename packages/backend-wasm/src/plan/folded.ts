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

/** The results of an operation and their elements. */
export function foldOperation(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  builder: Builder,
): Required<Planned> {
  const { definition, match } = view;
  if (definition.reference === undefined) throw new TypeError(`${definition.name} has no reference kernel`);
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
