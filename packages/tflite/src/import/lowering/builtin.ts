/** Emits the extension's operation that has the operator's own tensors and options as its operands. */
import { type AnyOperandType, isSameType, type Operation, type Param, typesOfRow, typeText } from "@nnhal/operations";
import type { OptionValue } from "../../schema/options.ts";
import { type Dialect, isBuiltinForm } from "../dialect.ts";
import type { StateOperands } from "../graph.ts";
import type { OperandSpec } from "../operand-types.ts";
import { optionReader } from "../option-reader.ts";
import { describeTensors, fieldOf, type OperatorAccess } from "./access.ts";
import type { AddedConstants } from "./constants.ts";
import type { Emission } from "./emission.ts";

/**
 * Emits the extension's operation for the builtin operator: its tensors, then its options; then its results, and the new values of its
 * variable tensors. False if the extension has none. Throws a TfliteError if it does not accept the tensors. `derived`: operands of the
 * operation that are not options of the schema.
 */
export function emitBuiltin(
  access: OperatorAccess,
  constants: AddedConstants,
  { emitIfAccepted }: Emission,
  dialect: Dialect,
  derived: Readonly<Record<string, OptionValue>>,
): boolean {
  const { operator, graph } = access;
  const isCustom = operator.name === "CUSTOM";
  const operation = ownOperation(access, dialect);
  if (operation === undefined) return false;
  const states: StateOperands[] = [];
  const [{ params }] = operation.forms;
  const given = isCustom ? optionReader().givenOptions(access, operation) : derived;
  const options = params.filter(({ name, kind }) =>
    isCustom
      ? kind !== "tensor" || given[name] !== undefined
      : fieldOf(operator, name) !== undefined || given[name] !== undefined,
  );
  const tensors = params.filter((param) => !options.includes(param));
  // A scalar that is not an option needs a row that knows its value.
  if (tensors.some(({ kind }) => kind !== "tensor")) return false;
  const { inputs } = operator;
  const omittedTypes = typesOfOmitted(access, operation, tensors);
  const omit = (place: number) => {
    const rule = operation.ranks[tensors[place]?.name ?? ""] ?? 1;
    return graph.omit(omittedTypes[place] ?? "TENSOR_FLOAT32", typeof rule === "number" ? rule : rule[0]);
  };
  const operands = inputs.map((tensor, place) => {
    if (tensor >= 0 && graph.tensor(tensor)?.isVariable) {
      const state = graph.state(tensor);
      states.push(state);
      return state.input;
    }
    if (tensor >= 0) return graph.operand(tensor);
    return omit(place);
  });
  // Omitted tensors at the end are not in every file.
  const rest = params.filter((param) => options.includes(param) || tensors.indexOf(param) >= inputs.length);
  for (const param of rest) {
    const isOption = options.includes(param);
    operands.push(isOption ? optionOperand(access, constants, param, given[param.name]) : omit(tensors.indexOf(param)));
  }
  // New values of states are outputs after the operator's own.
  const outputs = [...operator.outputs.map(graph.operand), ...states.map((state) => state.output)];
  const problem = emitIfAccepted(operation, operands, outputs);
  access.ensure(problem === "emitted", () => `${problem.slice(2)}. The tensors are ${describeTensors(access)}`);
  return true;
}

/** The operation that has the operator's own tensors and options as its operands. */
function ownOperation({ operator }: OperatorAccess, dialect: Dialect): Operation | undefined {
  if (operator.name === "CUSTOM") return dialect.customOf(operator.customCode ?? "");
  const operation = dialect.operationOf(operator.name);
  return operation !== undefined && isBuiltinForm(operation) ? operation : undefined;
}

/** A type for each tensor of the operator: those of a row that has the types of the tensors that are there, if there is one. */
function typesOfOmitted(
  { operator, graph }: OperatorAccess,
  { forms: [form] }: Operation,
  tensors: readonly Param[],
): AnyOperandType[] {
  const given = tensors.map((_, place) => {
    const tensor = operator.inputs[place] ?? -1;
    return tensor < 0 ? undefined : graph.tensorSpec(tensor).type;
  });
  const rows = form.types.map((row) => typesOfRow(form, row));
  const typeIn = (row: (typeof rows)[number] | undefined, param: Param) => row?.get(param) ?? "TENSOR_FLOAT32";
  const fitting = rows.find((row) =>
    tensors.every((param, place) => given[place] === undefined || isSameType(given[place], typeIn(row, param))),
  );
  return tensors.map((param) => typeIn(fitting ?? rows[0], param));
}

/** An option as an operand: a scalar, or a list as a tensor. `given`: its value if it is not one of the schema. */
function optionOperand(
  access: OperatorAccess,
  { bool, float, int32, int32Tensor }: AddedConstants,
  param: Param,
  given: OptionValue | undefined,
): number {
  const { operator, graph } = access;
  const { name, type } = param;
  const value = given ?? (param.omittable ? (access.list(name) ?? []) : access.option(name));
  if (typeof value === "boolean") return bool(value);
  if (typeof value === "object") {
    // The HAL has no constants without elements.
    if (value.length === 0 && param.omittable) return graph.omit(type ?? "TENSOR_INT32", 1);
    access.ensure(value.length > 0, () => `option ${name} has to have elements, it has none`);
    access.ensure(
      type === undefined || type === "TENSOR_INT32" || type === "TENSOR_FLOAT32",
      () => `option ${name} is a list, which a parameter of ${typeText(type ?? "TENSOR_INT32")} cannot take`,
    );
    if (type !== "TENSOR_FLOAT32") return int32Tensor(value);
    return graph.constant({ ...float32, dimensions: [value.length] }, new Uint8Array(Float32Array.from(value).buffer));
  }
  if (type === "FLOAT32") return float(Number(value), float32);
  access.ensure(value !== undefined, () => `option ${name} is missing`);
  const { codes = [], form } = fieldOf(operator, name) ?? {};
  // Options of any 64 bits are seeds, of which .tflite uses 32.
  if (form?.is === "any int64") return int32(seedOf(value));
  const code = typeof value === "string" && codes.includes(value) ? codes.indexOf(value) : Number(value);
  access.ensure((code | 0) === code, () => `option ${name} is ${value}, not a 32-bit integer`);
  return int32(code);
}

const float32: OperandSpec = { type: "TENSOR_FLOAT32", dimensions: [], scale: 0, zeroPoint: 0 };

function seedOf(value: OptionValue | undefined): number {
  return Number(BigInt.asIntN(32, BigInt(String(value ?? 0))));
}
