/**
 * Operations of the HAL for more types and ranks than the HAL has. Their operand lists, rules and shapes are the HAL's own, so an
 * importer writes them as it writes the HAL's.
 */
import {
  type AnyOperandType,
  type AnyOutputInfos,
  type AnyTensorData,
  type Form,
  isExtensionType,
  type KernelContext,
  type KernelResult,
  type Operation,
  type OperationArgs,
  type OperationName,
  type OperationOutputs,
  type OperationTypes,
  type OutputTensor,
  operationByCode,
  type Param,
  type RankRule,
  type Tensor,
  type TensorInfo,
  type TypeRow,
} from "@nnhal/operations";
import { OperationType } from "@nnhal/types";

/** How an operation differs from the HAL's. */
export interface Wider<Name extends OperationName> {
  /** The type in the HAL's rows that stands for the new types. */
  readonly from: AnyOperandType;
  /** The types to take. Those that the HAL has are taken as well, since ranks or rules may differ. */
  readonly types: readonly AnyOperandType[];
  /** Combinations of types that no row of the HAL has. Default: none. */
  readonly rows?: readonly TypeRow[];
  /** Bounds of ranks that differ from the HAL's, by parameter. */
  readonly ranks?: Readonly<Record<string, RankRule>>;
  /** Rules in place of the HAL's. Default: the HAL's. */
  readonly check?: Form["check"];
  /** Shapes in place of the HAL's. Default: the HAL's. */
  infer?(args: OperationArgs<Name, TensorInfo>, outputs: OperationOutputs<Name, TensorInfo>): AnyOutputInfos;
  /** The kernel. Default: the HAL's, if it does no more with elements than to copy and compare them. */
  reference?(
    args: OperationArgs<Name, Tensor<AnyTensorData>>,
    outputs: OperationOutputs<Name, OutputTensor<AnyTensorData>>,
    context: KernelContext,
  ): KernelResult;
}

/** Defines an operation of the HAL for more types. Its code within the extension is the HAL's. */
export function wider<Name extends OperationName>(name: Name, change: Wider<Name>): OperationTypes[Name] {
  const base = operationByCode(OperationType[name]);
  if (base === undefined) throw new TypeError(`${name} is not an operation of the HAL`);
  const { from, types, rows = [], ranks = {}, check } = change;
  // The definition that is widened has the arguments and outputs that the change names.
  const { infer = base.infer, reference = base.reference } = change as Pick<Operation, "infer" | "reference">;
  const formOf = ({ since: _, ...form }: Form): Form => ({
    ...form,
    params: form.params.map(widened),
    outputs: form.outputs.map(widened),
    types: [...rowsOf(form.types, from, types), ...rows],
    ...(check && { check }),
  });
  const [first, ...others] = base.forms;
  const operation: Operation = {
    ...base,
    forms: [formOf(first), ...others.map(formOf)],
    ranks: { ...base.ranks, ...ranks },
    ...(infer && { infer }),
    ...(reference && { reference }),
  };
  // Only the types that its operands may have differ from those of the HAL's operation.
  return operation as OperationTypes[Name];
}

function widened(param: Param): Param {
  return param.kind === "tensor" && param.type === undefined ? { ...param, wide: true } : param;
}

/** The rows with the type `from`, with each of the new types in its place. */
function rowsOf(rows: readonly TypeRow[], from: AnyOperandType, types: readonly AnyOperandType[]): TypeRow[] {
  const templates = rows.filter((row) => row.includes(from));
  return types.flatMap((type) =>
    templates.map(([, ...columns]): TypeRow => ["1.2", ...columns.map((column) => (column === from ? type : column))]),
  );
}

/** Whether a type's elements are 64-bit integers, which JavaScript does not mix with other numbers. */
export function isLong(type: AnyOperandType): boolean {
  return isExtensionType(type) && type.array.name.startsWith("Big");
}
