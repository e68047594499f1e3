/**
 * Operations of the HAL for more types and ranks than the HAL has. Their operand lists, rules and shapes are the HAL's own, so an
 * importer writes them as it writes the HAL's.
 */
import {
  type AnyOperandType,
  type Form,
  isExtensionType,
  type Operation,
  type OperationName,
  type OperationTypes,
  operationByCode,
  type Param,
  type RankRule,
  type TypeRow,
} from "@nnhal/operations";
import { OperationType } from "@nnhal/types";

/** How an operation differs from the HAL's. */
export interface Wider {
  /** The type in the HAL's rows that stands for the new types. */
  readonly from: AnyOperandType;
  /** The types to take. Those that the HAL has are taken as well, since ranks or rules may differ. */
  readonly types: readonly AnyOperandType[];
  /** Bounds of ranks that differ from the HAL's, by parameter. */
  readonly ranks?: Readonly<Record<string, RankRule>>;
  /** Rules in place of the HAL's. Default: the HAL's. */
  readonly check?: Form["check"];
  /** Shapes in place of the HAL's. Default: the HAL's. */
  readonly infer?: Operation["infer"];
  /** Further ways to write the operand list. */
  readonly forms?: readonly Form[];
  /** The kernel. Default: the HAL's, if it does no more with elements than to copy and compare them. */
  readonly reference?: Operation["reference"];
}

/** Defines an operation of the HAL for more types. Its code within the extension is the HAL's. */
export function wider<Name extends OperationName>(name: Name, change: Wider): OperationTypes[Name] {
  const base = operationByCode(OperationType[name]);
  if (base === undefined) throw new TypeError(`${name} is not an operation of the HAL`);
  const { from, types, ranks = {}, check, forms = [], infer = base.infer, reference = base.reference } = change;
  const formOf = ({ since: _, ...form }: Form): Form => ({
    ...form,
    params: form.params.map(widened),
    outputs: form.outputs.map(widened),
    types: rowsOf(form.types, from, types),
    ...(check && { check }),
  });
  const [first, ...others] = base.forms;
  const operation: Operation = {
    ...base,
    forms: [formOf(first), ...others.map(formOf), ...forms],
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
