/**
 * Operations of the HAL for more types and ranks than the HAL has. Their operand lists, rules and shapes are the HAL's own, so an
 * importer writes them as it writes the HAL's.
 */

import type { AnyOutputInfos, Form, KernelContext, Operation, RankRule, TypeRow } from "../define.ts";
import type { DefinitionArgs, DefinitionOutputs } from "../definition-args.ts";
import { type AnyOperandType, type AnyTensorData, isExtensionType } from "../operand-type.ts";
import type { AnyArg, AnyArgs, Param } from "../params.ts";
import type { KernelResult } from "../phases.ts";
import type { OutputTensor, Tensor, TensorInfo } from "../tensor.ts";
import { narrowElements, oneNumber } from "./_integers.tflite.ts";

/** Differences of an operation from the HAL's. */
export interface Wider<Base extends Operation> {
  /** The type in the HAL's rows that stands for the new types. */
  readonly from: AnyOperandType;
  /** The types to take. Those that the HAL has are taken as well, since ranks or rules may differ. */
  readonly types: readonly AnyOperandType[];
  /** Combinations of types that no row of the HAL has. Default: none. */
  readonly rows?: readonly TypeRow[];
  /** Bounds of ranks that differ from the HAL's, by parameter. */
  readonly ranks?: Readonly<Record<string, RankRule>>;
  /**
   * Types of operands, by parameter, that the HAL has as integers of 32 bits. A list (TENSOR_INT32) then has one of these types; a scalar
   * (INT32) may also be a tensor of one element of one of these types. All operands listed have the same type.
   */
  readonly integers?: { readonly names: readonly string[]; readonly types: readonly AnyOperandType[] };
  /** Rules in place of the HAL's. Default: the HAL's. */
  readonly check?: Form["check"];
  /** Shapes in place of the HAL's. Default: the HAL's. */
  infer?(args: ArgsOfEach<Base, TensorInfo>, outputs: OutputsOfEach<Base, TensorInfo>): AnyOutputInfos;
  /** Further ways to write the operand list. */
  readonly forms?: readonly Form[];
  /** The kernel. Default: the HAL's, if it does no more with elements than to copy and compare them. */
  reference?(
    args: ArgsOfEach<Base, Tensor<AnyTensorData>>,
    outputs: OutputsOfEach<Base, OutputTensor<AnyTensorData>>,
    context: KernelContext,
  ): KernelResult;
}

/** The arguments of a definition; of several, the union of theirs. */
type ArgsOfEach<Base extends Operation, T extends TensorInfo> = Base extends Operation
  ? DefinitionArgs<Base, T>
  : never;
type OutputsOfEach<Base extends Operation, T> = Base extends Operation ? DefinitionOutputs<Base, T> : never;

/** Defines an operation of the HAL for more types. Its code within the extension is the HAL's. */
export function wider<Base extends Operation>(base: Base, change: Wider<Base>): Base {
  const { rows = [], ranks = {}, integers, check, forms = [] } = change;
  // The definition that is widened has the arguments and outputs that the change names.
  const { infer = base.infer, reference = base.reference } = change as Pick<Operation, "infer" | "reference">;
  const names = integers?.names ?? [];
  const formOf = ({ since: _, ...form }: Form, replaced: readonly string[]): Form => {
    const { normalise } = form;
    return {
      ...form,
      params: form.params.map((param) => widenParam(param, replaced)),
      outputs: form.outputs.map((param) => widenParam(param, [])),
      types: [...rowsOf(form, change, replaced), ...rows],
      ...(check && { check }),
      ...(replaced.length > 0 && {
        normalise: (args: AnyArgs) => {
          const numbers = { ...args, ...scalarsOf(form, args, replaced) };
          return { ...numbers, ...normalise?.(numbers) };
        },
      }),
    };
  };
  const [first, ...others] = base.forms;
  const lists = names.filter((each) => first.params.some((param) => param.name === each && param.kind === "tensor"));
  const withTensors = lists.length === names.length ? [] : [formOf(first, names)];
  const operation: Operation = {
    ...base,
    forms: [formOf(first, lists), ...withTensors, ...others.map((form) => formOf(form, lists)), ...forms],
    ranks: { ...base.ranks, ...ranks },
    ...(infer && { infer: (args, outputs) => infer(narrowLists(args, lists), outputs) }),
    ...(reference && { reference: (args, outputs, context) => reference(narrowLists(args, lists), outputs, context) }),
  };
  // Only the types that its operands may have differ from those of the HAL's operation.
  return operation as Base;
}

/** Defines an operation of a family for more types, by a change that is the same for all of the family. */
export function widerOf<Family extends Operation, Base extends Family>(base: Base, change: Wider<Family>): Base {
  // It is made of this definition.
  return wider<Family>(base, change) as Base;
}

function widenParam(param: Param, replaced: readonly string[]): Param {
  if (replaced.includes(param.name)) {
    const { type: _, ...rest } = param;
    return { ...rest, kind: "tensor", wide: true, read: true };
  }
  return param.kind === "tensor" && param.type === undefined ? { ...param, wide: true } : param;
}

/** The rows with the type `from`, with each of the new types in its place, and a column for each operand that is replaced. */
function rowsOf(
  form: Form,
  { from, types, integers }: Pick<Wider<Operation>, "from" | "types" | "integers">,
  replaced: readonly string[],
): TypeRow[] {
  const templates = form.types.filter((row) => row.includes(from));
  const integerTypes = replaced.length === 0 ? [undefined] : (integers?.types ?? []);
  return types.flatMap((type) =>
    templates.flatMap(([, ...columns]) =>
      integerTypes.map((integer): TypeRow => {
        const next = columns.values();
        const row = [...form.params, ...form.outputs].flatMap((param): AnyOperandType[] => {
          if (integer !== undefined && replaced.includes(param.name)) return [integer];
          if (param.type !== undefined) return [];
          const column = next.next().value;
          return column === undefined ? [] : [column === from ? type : column];
        });
        return ["1.2", ...row];
      }),
    ),
  );
}

/** The arguments with lists of 64-bit integers as numbers. */
function narrowLists(args: AnyArgs, lists: readonly string[]): AnyArgs {
  if (lists.length === 0) return args;
  const record: Record<string, AnyArg> = { ...args };
  for (const name of lists) {
    const list = args[name];
    if (isTensor(list)) record[name] = narrowElements(list);
  }
  return record;
}

/** The numbers of scalars that are given as tensors. */
function scalarsOf(form: Form, args: AnyArgs, replaced: readonly string[]): AnyArgs {
  const record: Record<string, AnyArg> = {};
  for (const { name, kind } of form.params) {
    const tensor = args[name];
    if (kind === "number" && replaced.includes(name) && isTensor(tensor)) record[name] = oneNumber(name, tensor);
  }
  return record;
}

function isTensor(arg: AnyArg): arg is Tensor<AnyTensorData> {
  return typeof arg === "object" && "data" in arg && arg.data !== undefined;
}

/** Returns whether a type's elements are 64-bit integers, which JavaScript does not mix with other numbers. */
export function isLong(type: AnyOperandType): boolean {
  return isExtensionType(type) && type.array.name.startsWith("Big");
}
