/**
 * Rule 72: shape inference. Known shapes propagate from graph inputs and constants through temporaries. A shape that no request
 * can make valid is an issue. docs/decisions/0050-shapes-are-checked.md defines which shapes count as known.
 */
import {
  bindInputs,
  combineDimensions,
  elementAt,
  elementCount,
  formatShape,
  inferOutputs,
  isInferable,
  layOut,
  type Match,
  normaliseArguments,
  type OperandInfo,
  type Operation as OperationDefinition,
  OperationError,
  type OutputInfo,
  type Param,
  refineDimensions,
  sameShape,
  type TensorInfo,
  tensorInfo,
} from "@nnhal/operations";
import { OperandLifeTime, type Operation } from "@nnhal/types";
import type { ModelContext } from "./context.ts";
import { show, showDimensions } from "./issues.ts";
import type { BoundOperands, SubgraphView } from "./subgraph-view.ts";

/**
 * Most extents of an input, and most elements of a constant that is read for its contents, such as RESHAPE's shape. A longer
 * one counts as unknown, so that the time for an operation does not grow with its constants.
 */
const mostExtents = 32;

/** Most inputs that a message names. */
const mostNamed = 4;

/**
 * Infers the output shapes of an operation whose operands fit its signature, if all that they depend on is known, and notes
 * them in `view.inferred`.
 */
export function checkShapes(
  { issues }: ModelContext,
  view: SubgraphView,
  operation: Operation,
  definition: OperationDefinition,
  { form }: Match,
  operands: BoundOperands,
  at: string,
): void {
  if (definition.infer === undefined) return;
  const params = layOut(form.params, form.counts, operation.inputs.length) ?? [];
  const inputs = knownInputs(view, operation, params, operands);
  if (inputs === undefined || !isInferable(form, inputs)) return;
  let infos: readonly OutputInfo[];
  try {
    const args = inputs === operands.inputs ? operands.args : bindInputs(form, inputs);
    infos = inferOutputs(definition, form, normaliseArguments(definition, form, args), operands.outputs);
  } catch (error) {
    // As for an operation's own rules, any other error means that the definition did not expect such operands.
    const problem = error instanceof OperationError ? error.message : `its shapes cannot be inferred: ${show(error)}`;
    issues.add("operation-shape", at, `${definition.name}: ${problem}${describeInputs(operation, params, inputs)}`);
    return;
  }
  for (const [position, info] of infos.entries()) {
    const index = elementAt(operation.outputs, position);
    const declared = elementAt(operands.outputs, position);
    const dimensions = refine(index, declared.dimensions, info.dimensions, definition.dynamic);
    if (typeof dimensions === "string") {
      const message = `${definition.name}: ${dimensions}${describeInputs(operation, params, inputs)}`;
      issues.add("output-shape", `${at}.outputs[${position}]`, message);
      continue;
    }
    const known = settle(view, index, declared, info, dimensions);
    if (known !== undefined) view.inferred[index] = known;
  }
}

/** The dimensions of an output by declaration and inference combined; a message if the two contradict each other. */
function refine(
  index: number,
  declared: readonly number[],
  inferred: readonly number[],
  dynamic: boolean,
): readonly number[] | string {
  try {
    // Only the execution of a dynamic operation knows all extents: 0 is an unknown one.
    if (!dynamic) return refineDimensions(index, declared, inferred);
    const known = combineDimensions(declared, inferred);
    return (
      known ?? `operand ${index} is declared as ${formatShape(declared)}, but the result has ${formatShape(inferred)}`
    );
  } catch (error) {
    if (error instanceof OperationError) return error.message;
    throw error;
  }
}

/**
 * The inputs with their inferred facts: the same list if inference adds nothing. Undefined if one of them rules out inference.
 */
function knownInputs(
  { subgraph, inferred }: SubgraphView,
  operation: Operation,
  params: readonly Param[],
  operands: BoundOperands,
): readonly (OperandInfo | undefined)[] | undefined {
  let inputs: (OperandInfo | undefined)[] | undefined;
  for (const [position, declared] of operands.inputs.entries()) {
    const index = elementAt(operation.inputs, position);
    const input = inferred[index] ?? declared;
    if (input === undefined) continue;
    if (input !== declared) {
      inputs ??= [...operands.inputs];
      inputs[position] = input;
    }
    const { omittable, read } = elementAt(params, position);
    // A request may omit the argument, and then the operand's dimensions mean nothing.
    if (omittable && elementAt(subgraph.operands, index).lifetime === OperandLifeTime.SUBGRAPH_INPUT) return undefined;
    if (input.dimensions.length > mostExtents) return undefined;
    if (read && elementCount(input.dimensions) > mostExtents) return undefined;
  }
  return inputs ?? operands.inputs;
}

/**
 * The final facts of an output: an operation that fixes the quantisation of its output overrides that of a temporary. Undefined if the
 * declaration has the same facts.
 */
function settle(
  { subgraph }: SubgraphView,
  index: number,
  declared: OperandInfo,
  inferred: OutputInfo,
  dimensions: readonly number[],
): TensorInfo | undefined {
  const isFixed =
    inferred.scale !== undefined && elementAt(subgraph.operands, index).lifetime === OperandLifeTime.TEMPORARY_VARIABLE;
  const scale = isFixed ? inferred.scale : declared.scale;
  const zeroPoint = isFixed ? (inferred.zeroPoint ?? 0) : declared.zeroPoint;
  const isDeclared = scale === declared.scale && zeroPoint === declared.zeroPoint;
  if (isDeclared && sameShape(dimensions, declared.dimensions)) return undefined;
  return tensorInfo(declared, dimensions, scale, zeroPoint);
}

/** ` (left: operand 0 [2]; right: operand 1 [3])`: the tensors that an operation reads. */
function describeInputs(
  { inputs }: Operation,
  params: readonly Param[],
  infos: readonly (OperandInfo | undefined)[],
): string {
  const named: string[] = [];
  let tensors = 0;
  for (const [position, info] of infos.entries()) {
    const { kind, name } = elementAt(params, position);
    if (info === undefined || kind !== "tensor") continue;
    tensors++;
    if (named.length < mostNamed) named.push(`${name}: operand ${inputs[position]} ${showDimensions(info.dimensions)}`);
  }
  if (tensors > named.length) named.push(`and ${tensors - named.length} more`);
  return named.length === 0 ? "" : ` (${named.join("; ")})`;
}
