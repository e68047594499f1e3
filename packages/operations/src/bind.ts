/**
 * From a matched operand list to the argument record: positions become names, scalars become numbers, parameters that were left out
 * become their defaults. Shape inference is here too, and whether a bound list is ready for it.
 */
import type { HalVersion } from "@nnhal/types";
import type { AnyOutputInfos, Form, OperandInfo, Operation, OutputInfo, RankRule } from "./define.ts";
import { ensure } from "./fail.ts";
import { latestVersion, layOut, type Match } from "./match.ts";
import type { AnyArg, AnyArgs, Param } from "./params.ts";
import { isTensorType, type TensorInfo } from "./tensor.ts";

/** The arguments of a matched operand list by parameter name. Omitted operands are undefined in the list. */
export function bindInputs(form: Form, inputs: readonly (OperandInfo | undefined)[]): AnyArgs {
  return bind(form.params, form.counts, inputs);
}

/** The outputs of a matched operand list by parameter name. */
export function bindOutputs<T extends TensorInfo>(form: Form, outputs: readonly T[]): Bound<T> {
  return bindByName(form.outputs, form.outputCounts, outputs) ?? {};
}

/** Values of operands by parameter name; parameters that were left out are absent. */
type Bound<T> = Readonly<Record<string, T | readonly T[] | undefined>>;

/** Values of operands, of any kind, by parameter name; undefined if the number of operands is not legal. */
export function bindByName<T>(
  params: readonly Param[],
  counts: readonly number[] | undefined,
  operands: readonly T[],
): Bound<T> | undefined {
  const positions = layOut(params, counts, operands.length);
  if (positions === undefined) return undefined;
  const record: Record<string, T | T[] | undefined> = {};
  for (const param of params) {
    const first = positions.indexOf(param);
    if (first < 0) continue;
    record[param.name] = param.variadic
      ? operands.filter((_, position) => positions[position] === param)
      : operands[first];
  }
  return record;
}

function bind(
  params: readonly Param[],
  counts: readonly number[] | undefined,
  operands: readonly (OperandInfo | undefined)[],
): AnyArgs {
  const positions = layOut(params, counts, operands.length) ?? [];
  const record: Record<string, AnyArg> = {};
  for (const param of params) {
    if (param.variadic) {
      record[param.name] = operands.filter(
        (operand, position): operand is OperandInfo => positions[position] === param && operand !== undefined,
      );
    } else if (param.default !== undefined) record[param.name] = param.default;
  }
  positions.forEach((param, position) => {
    if (!param.variadic) record[param.name] = argumentOf(param, operands[position]);
  });
  return record;
}

function argumentOf(param: Param, operand: OperandInfo | undefined): AnyArg {
  if (param.kind === "tensor") return operand;
  const value = operand?.data?.[0];
  return param.kind === "boolean" && value !== undefined ? value !== 0 : value;
}

/** The HAL version that a matched operand list needs, its values included. */
export function requiredVersion(
  { form, since }: Match,
  inputs: readonly (OperandInfo | undefined)[],
  outputs: readonly OperandInfo[],
): HalVersion {
  if (form.since === undefined) return since;
  return latestVersion(since, form.since(bindInputs(form, inputs), bindOutputs(form, outputs)));
}

/**
 * Returns whether shape inference can run before execution: every extent, every scalar and the contents of the tensors
 * that it reads are known.
 */
export function isInferable(form: Form, inputs: readonly (OperandInfo | undefined)[]): boolean {
  const positions = layOut(form.params, form.counts, inputs.length) ?? [];
  return inputs.every((input, position) => {
    if (input === undefined) return true;
    const param = positions[position];
    if ((param.kind !== "tensor" || param.read) && input.data === undefined) return false;
    return !isTensorType(input.type) || (input.dimensions.length > 0 && !input.dimensions.includes(0));
  });
}

/** The arguments as kernels and backends see them: bound, ranks checked, normalised to the operation's first form. */
export function bindArguments(operation: Operation, form: Form, inputs: readonly (OperandInfo | undefined)[]): AnyArgs {
  return normaliseArguments(operation, form, bindInputs(form, inputs));
}

/** `bindArguments` for the record that `bindInputs` returns. Throws OperationError. */
export function normaliseArguments(operation: Operation, form: Form, bound: AnyArgs): AnyArgs {
  for (const [name, rule] of Object.entries(operation.ranks)) {
    const arg = bound[name];
    if (typeof arg !== "object") continue;
    for (const tensor of isList(arg) ? arg : [arg]) {
      const problem = rankProblem(rule, tensor.dimensions.length);
      ensure(problem === undefined, () => `${name}: ${problem}`);
    }
  }
  return form.normalise === undefined ? bound : mergeArguments(operation.forms[0], bound, form.normalise(bound));
}

/** Why a rank does not keep a rule, such as "expected rank 1 to 4, got 5"; undefined if it does. */
export function rankProblem(rule: RankRule, rank: number): string | undefined {
  const [least, greatest] = typeof rule === "number" ? [rule, rule] : rule;
  if (rank >= least && rank <= greatest) return undefined;
  const range = greatest === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${greatest}`;
  return `expected rank ${least === greatest ? least : range}, got ${rank}`;
}

/** The arguments of the first form: `added`, and all others from another form. */
function mergeArguments({ params }: Form, other: AnyArgs, added: AnyArgs): AnyArgs {
  const record: Record<string, AnyArg> = {};
  for (const { name } of params) record[name] = name in added ? added[name] : other[name];
  return record;
}

function isList(arg: TensorInfo | readonly TensorInfo[]): arg is readonly TensorInfo[] {
  return Array.isArray(arg);
}

/** Infers the shapes of all outputs, in the order of the operand list; `args` are as `bindArguments` returns them. Throws OperationError. */
export function inferOutputs(
  operation: Operation,
  form: Form,
  args: AnyArgs,
  outputs: readonly TensorInfo[],
): readonly OutputInfo[] {
  if (operation.infer === undefined) return outputs;
  const infos = operation.infer(args, bindOutputs(form, outputs));
  return flattenOutputs(form, infos, outputs.length);
}

function flattenOutputs(form: Form, infos: AnyOutputInfos, count: number): readonly OutputInfo[] {
  const flat: OutputInfo[] = [];
  for (const param of form.outputs) {
    const info = infos[param.name];
    if (info === undefined) continue;
    // Not spread into one call: a model may list more outputs than a call can have arguments.
    if (isInfoList(info)) for (const each of info) flat.push(each);
    else flat.push(info);
  }
  ensure(flat.length >= count, () => `the operation has ${flat.length} outputs, the model lists ${count}`);
  return flat.slice(0, count);
}

function isInfoList(info: OutputInfo | readonly OutputInfo[]): info is readonly OutputInfo[] {
  return Array.isArray(info);
}
