/**
 * Which form and which type row of an operation a list of operands fits, or why none does.
 */
import { type HalVersion, operandTypes } from "@nnhal/types";
import type { Form, Operation, TypeRow } from "./define.ts";
import { type AnyOperandType, isExtensionType, isSameType, typeText } from "./operand-type.ts";
import type { Param } from "./params.ts";

/** The form and row that an operand list fits. */
export interface Match {
  readonly form: Form;
  readonly row: TypeRow;
  /** The HAL version that the types and the number of operands need; values may need a later one: see `requiredVersion`. */
  readonly since: HalVersion;
}

/** Why an operand list fits no form. */
export interface Mismatch {
  readonly mismatch: string;
}

/** An operand type; undefined if it is of an extension that is not known. */
export type MaybeType = AnyOperandType | undefined;

/** Finds the form and the type row that an operand list fits. If several fit, returns the one of the earliest HAL version. */
export function matchOperation(
  operation: Operation,
  inputs: readonly MaybeType[],
  outputs: readonly MaybeType[],
): Match | Mismatch {
  let found: Match | undefined;
  for (const form of operation.forms) {
    const table = tableOf(form);
    const list = listOf(form, table, inputs.length, outputs.length);
    if (list === undefined) continue;
    for (const { row, types } of table.rows) {
      if (!fits(list.inputs, inputs, types) || !fits(list.outputs, outputs, types)) continue;
      const since = latestVersion(row[0], list.since);
      if (found === undefined || since < found.since) found = { form, row, since };
    }
  }
  return found ?? { mismatch: describeMismatch(operation, inputs, outputs) };
}

/** A form prepared for matching; computed once. */
interface FormTable {
  /** The place in a row's types of each parameter whose type varies. */
  readonly columns: ReadonlyMap<Param, number>;
  readonly rows: readonly { readonly row: TypeRow; readonly types: readonly AnyOperandType[] }[];
  /** Operand lists by their lengths; see `listOf`. */
  readonly lists: Map<number, OperandList>;
}

/** The expectations of a form for operand lists of one length. */
interface OperandList {
  readonly inputs: readonly Position[];
  readonly outputs: readonly Position[];
  /** The latest HAL version that introduced one of the parameters; undefined: none is later than the form. */
  readonly since: HalVersion | undefined;
}

/** The expectation of a form for one operand of a list. */
interface Position {
  readonly param: Param;
  /** The place in a row's types; absent if the parameter has a fixed type or accepts any. */
  readonly column?: number;
}

const tables = new WeakMap<Form, FormTable>();

/** The table of a form. Throws a TypeError if a row does not have one type for each parameter whose type varies. */
function tableOf(form: Form): FormTable {
  const kept = tables.get(form);
  if (kept !== undefined) return kept;
  const columns = new Map<Param, number>();
  for (const param of [...form.params, ...form.outputs]) {
    if (param.type === undefined && !param.any) columns.set(param, columns.size);
  }
  const rows = form.types.map((row) => {
    const [since, ...types] = row;
    if (types.length !== columns.size || !types.every((type) => isExtensionType(type) || type in operandTypes)) {
      throw new TypeError(
        `type row ${[since, ...types.map(typeText)].join(" ")}: expected ${columns.size} types, one for each that varies`,
      );
    }
    return { row, types };
  });
  const table = { columns, rows, lists: new Map<number, OperandList>() };
  tables.set(form, table);
  return table;
}

/** The type of each parameter of a form by one of its rows; a parameter of any type has none. */
export function typesOfRow(form: Form, row: TypeRow): ReadonlyMap<Param, AnyOperandType> {
  const { columns, rows } = tableOf(form);
  const varying = rows.find((known) => known.row === row)?.types ?? [];
  const types = new Map<Param, AnyOperandType>();
  for (const param of [...form.params, ...form.outputs]) {
    const column = columns.get(param);
    const type = column === undefined ? param.type : varying[column];
    if (type !== undefined) types.set(param, type);
  }
  return types;
}

/** The types that each parameter of a form may have, in all rows. Throws a TypeError if a row is not complete. */
export function typesOfForm(form: Form): ReadonlyMap<Param, readonly AnyOperandType[]> {
  const { columns, rows } = tableOf(form);
  const types = new Map<Param, readonly AnyOperandType[]>();
  for (const param of [...form.params, ...form.outputs]) {
    const column = columns.get(param);
    if (column !== undefined)
      types.set(
        param,
        rows.map((row) => row.types[column]),
      );
    else types.set(param, param.type === undefined ? [] : [param.type]);
  }
  return types;
}

/** Lists longer than this are not kept: a variadic parameter allows any length, and a cache has to stay small. */
const longestKeptList = 64;

/** The expectations of a form for lists of these lengths; undefined if the lengths are not legal. */
function listOf(form: Form, table: FormTable, inputCount: number, outputCount: number): OperandList | undefined {
  const isKept = inputCount <= longestKeptList && outputCount <= longestKeptList;
  const key = inputCount * (longestKeptList + 1) + outputCount;
  const kept = isKept ? table.lists.get(key) : undefined;
  if (kept !== undefined) return kept;
  const inputs = layOut(form.params, form.counts, inputCount);
  const outputs = layOut(form.outputs, form.outputCounts, outputCount);
  if (inputs === undefined || outputs === undefined) return undefined;
  let since: HalVersion | undefined;
  const position = (param: Param): Position => {
    if (param.since !== undefined && (since === undefined || param.since > since)) since = param.since;
    const column = table.columns.get(param);
    return column === undefined ? { param } : { param, column };
  };
  const list: OperandList = { inputs: inputs.map(position), outputs: outputs.map(position), since };
  if (isKept) table.lists.set(key, list);
  return list;
}

/** The type that a row requires at a position; undefined: any. */
function expectedType({ param, column }: Position, types: readonly AnyOperandType[]): MaybeType {
  return column === undefined ? param.type : types[column];
}

function fits(positions: readonly Position[], actual: readonly MaybeType[], types: readonly AnyOperandType[]): boolean {
  for (let index = 0; index < positions.length; index++) {
    const expected = expectedType(positions[index], types);
    if (expected !== undefined && !isSameType(expected, actual[index])) return false;
  }
  return true;
}

const positionsByLength = new WeakMap<readonly Param[], Map<number, readonly Param[]>>();

/** The parameter of each position; undefined if the number of operands is not legal. */
export function layOut(
  params: readonly Param[],
  counts: readonly number[] | undefined,
  length: number,
): readonly Param[] | undefined {
  if (counts !== undefined && !counts.includes(length)) return undefined;
  let known = positionsByLength.get(params);
  const kept = known?.get(length);
  if (kept !== undefined) return kept;
  const positions = positionsOf(params, length);
  if (positions !== undefined && length <= longestKeptList) {
    if (known === undefined) {
      known = new Map();
      positionsByLength.set(params, known);
    }
    known.set(length, positions);
  }
  return positions;
}

function positionsOf(params: readonly Param[], length: number): readonly Param[] | undefined {
  const variadicIndex = params.findIndex((param) => param.variadic);
  if (variadicIndex < 0) {
    const required = params.filter((param) => param.since === undefined).length;
    return length >= required && length <= params.length ? params.slice(0, length) : undefined;
  }
  const variadicParam = params[variadicIndex];
  const repeats = length - (params.length - 1);
  if (repeats < (variadicParam.any ? 0 : 1)) return undefined;
  return [
    ...params.slice(0, variadicIndex),
    ...Array.from({ length: repeats }, () => variadicParam),
    ...params.slice(variadicIndex + 1),
  ];
}

/** The latest of some versions; undefined ones do not count. */
export function latestVersion(first: HalVersion, ...others: readonly (HalVersion | undefined)[]): HalVersion {
  let result = first;
  for (const other of others) if (other !== undefined && other > result) result = other;
  return result;
}

/** Most wrong operands that a message names. */
const mostNamed = 4;

/** Describes how an operand list differs from the most similar row of the signature. */
function describeMismatch(operation: Operation, inputs: readonly MaybeType[], outputs: readonly MaybeType[]): string {
  let nearest: { readonly wrong: number; readonly named: readonly string[] } | undefined;
  for (const form of operation.forms) {
    const table = tableOf(form);
    const list = listOf(form, table, inputs.length, outputs.length);
    if (list === undefined) continue;
    for (const { types } of table.rows) {
      const inputsWrong = wrongPositions(list.inputs, inputs, types);
      const outputsWrong = wrongPositions(list.outputs, outputs, types);
      const wrong = inputsWrong.length + outputsWrong.length;
      if (nearest !== undefined && wrong >= nearest.wrong) continue;
      const named = [
        ...describeWrong("input", inputsWrong, list.inputs, inputs, types),
        ...describeWrong("output", outputsWrong, list.outputs, outputs, types),
      ];
      nearest = { wrong, named: named.slice(0, mostNamed) };
    }
  }
  if (nearest === undefined) return describeCounts(operation, inputs.length, outputs.length);
  const { wrong, named } = nearest;
  return named.join("; ") + (wrong > named.length ? `; and ${wrong - named.length} more` : "");
}

function wrongPositions(
  positions: readonly Position[],
  actual: readonly MaybeType[],
  types: readonly AnyOperandType[],
): number[] {
  const wrong: number[] = [];
  positions.forEach((position, index) => {
    const expected = expectedType(position, types);
    if (expected !== undefined && !isSameType(expected, actual[index])) wrong.push(index);
  });
  return wrong;
}

function describeWrong(
  side: "input" | "output",
  wrong: readonly number[],
  positions: readonly Position[],
  actual: readonly MaybeType[],
  types: readonly AnyOperandType[],
): string[] {
  return wrong.slice(0, mostNamed).map((index) => {
    const { name } = positions[index].param;
    const expected = expectedType(positions[index], types);
    const given = actual[index];
    return `${side} ${index} (${name}): expected ${expected && typeText(expected)}, got ${given === undefined ? "an extension type" : typeText(given)}`;
  });
}

function describeCounts(operation: Operation, inputCount: number, outputCount: number): string {
  const forms = operation.forms.map(
    (form) =>
      `${legalCounts(form.params, form.counts)} inputs and ${legalCounts(form.outputs, form.outputCounts)} outputs`,
  );
  return `expected ${[...new Set(forms)].join(", or ")}, got ${inputCount} inputs and ${outputCount} outputs`;
}

function legalCounts(params: readonly Param[], counts: readonly number[] | undefined): string {
  if (counts !== undefined) return counts.join("/");
  const variadicParam = params.find((param) => param.variadic);
  if (variadicParam !== undefined) return `at least ${params.length - (variadicParam.any ? 1 : 0)}`;
  const required = params.filter((param) => param.since === undefined).length;
  return required === params.length ? `${required}` : `${required} to ${params.length}`;
}
