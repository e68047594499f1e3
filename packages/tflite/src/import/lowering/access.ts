/** Access to one operator of the file: its tensors, as the subgraph that is made has them, and its options. */
import { ensure, fail, listText, quote } from "../../error.ts";
import type { Field } from "../../flatbuffer/table.ts";
import type { TfliteOperator, TfliteTensor } from "../../model.ts";
import { builtinOperators } from "../../schema/builtin-operators.ts";
import { type OptionValue, optionsLayout } from "../../schema/options.ts";
import { integersOf } from "../bytes.ts";
import { type Graph, tensorOf } from "../graph.ts";
import { describeTensor, type OperandSpec } from "../operand-types.ts";
import { operatorWhere } from "./place.ts";

/** An operator of the file. Operands are given by their indexes, tensors by their place in a list. */
export interface OperatorAccess {
  readonly operator: TfliteOperator;
  /** The operator's place in its subgraph. */
  readonly index: number;
  readonly graph: Graph;
  /** Throws a TfliteError for the operator. `problem` names the rule and the actual value; `help`: what a user can do. */
  fail(problem: string, help?: string): never;
  /** Throws a TfliteError for the operator unless the condition holds. */
  ensure(condition: boolean, problem: () => string, help?: string): asserts condition;

  /** True if input `place` is there and not omitted. */
  has(place: number): boolean;
  /** The index of the tensor that is input `place`. */
  inputIndex(place: number): number;
  inputTensor(place: number): TfliteTensor;
  /** The operand of input `place`. */
  input(place: number): number;
  /** The operand of input `place`, with 64-bit integers if the file has them. */
  asInFile(place: number): number;
  /** The description of input `place`; does not make the operand. */
  inputSpec(place: number): OperandSpec;
  outputIndex(place: number): number;
  /** The tensor that is an output, the first one by default. */
  outputTensor(place?: number): TfliteTensor;
  /** The operand of an output, the first one by default. */
  output(place?: number): number;
  outputSpec(place?: number): OperandSpec;
  /** The integers of a constant input; undefined if it is not constant. */
  constantIntegers(place: number): readonly number[] | undefined;
  /** The integers of an input that must be a constant. */
  integers(place: number, meaning: string): readonly number[];
  /** The one integer of an input that must be a constant. */
  integer(place: number, meaning: string): number;
  /** An axis counted from the front. */
  axis(axis: number, rank: number): number;

  /** The value of an option, whatever its kind: that of the file, else the schema's default. */
  option(name: string): OptionValue | undefined;
  number(option: string): number;
  flag(option: string): boolean;
  text(option: string): string;
  list(option: string): readonly number[] | undefined;
}

/** Most tensors that a message names. */
const MOST_NAMED = 6;

/** The operator's tensors, the first few of them, for a message. */
export function describeTensors({ operator, graph }: OperatorAccess): string {
  const listed = [...operator.inputs, ...operator.outputs].filter((tensor) => tensor >= 0);
  const named = listed.slice(0, MOST_NAMED).map((tensor) => {
    const stored = tensorOf(graph, tensor);
    const used = graph.usedShape(tensor);
    return describeTensor(used?.length === stored.shape.length ? { ...stored, shape: used } : stored, tensor);
  });
  return named.join(", ") + (listed.length > MOST_NAMED ? ", …" : "");
}

/** The field of an operator's option; undefined if the operator does not have the option. */
export function fieldOf(operator: TfliteOperator, option: string): Field<OptionValue | undefined> | undefined {
  const table = builtinOperators.find(({ name }) => name === operator.name)?.options;
  if (table === undefined) return undefined;
  const fields: Readonly<Record<string, Field<OptionValue | undefined>>> = optionsLayout(table);
  return fields[option];
}

/** The value of an option in a message. */
function optionText(value: OptionValue | undefined): string {
  if (typeof value === "string") return quote(value);
  return typeof value === "object" ? listText(value) : String(value);
}

/** Opens an operator for reading. */
export function accessOperator(graph: Graph, operator: TfliteOperator, index: number): OperatorAccess {
  const place = () => operatorWhere(graph, operator, index);

  const refuse: OperatorAccess["fail"] = (problem, help) => fail(place, problem, help);
  function check(condition: boolean, problem: () => string, help?: string): asserts condition {
    ensure(condition, place, problem, help);
  }

  function inputIndex(place: number): number {
    const tensor = operator.inputs[place] ?? -1;
    check(
      tensor >= 0,
      () => `input ${place} is omitted, and the HAL needs it; it has inputs ${listText(operator.inputs)}`,
    );
    return tensor;
  }
  function outputIndex(place: number): number {
    const tensor = operator.outputs[place] ?? -1;
    check(tensor >= 0, () => `output ${place} is missing; it has outputs ${listText(operator.outputs)}`);
    return tensor;
  }
  const input = (place: number) => graph.operand(inputIndex(place));

  function option(name: string): OptionValue | undefined {
    return operator.options[name] ?? fieldOf(operator, name)?.absent;
  }
  function optionOf<T extends OptionValue>(name: string, is: (value: unknown) => value is T, kind: string): T {
    const value = option(name);
    if (!is(value)) refuse(`option ${name}: expected ${kind}, got ${optionText(value)}`);
    return value;
  }

  function constantIntegers(place: number): readonly number[] | undefined {
    const tensor = inputIndex(place);
    const bytes = graph.constantBytes(tensor);
    return bytes && integersOf(tensorOf(graph, tensor).type, bytes, graph.placeOf(tensor));
  }
  function integers(place: number, meaning: string): readonly number[] {
    const values = constantIntegers(place);
    if (values === undefined) {
      const help = "convert the model with fixed shapes, or import it with inputShapes";
      refuse(`the HAL needs ${meaning} (input ${place}) as a constant, and it is computed`, help);
    }
    return values;
  }

  return {
    operator,
    index,
    graph,
    fail: refuse,
    ensure: check,
    has: (place) => (operator.inputs[place] ?? -1) >= 0,
    inputIndex,
    inputTensor: (place) => tensorOf(graph, inputIndex(place)),
    input,
    asInFile(place) {
      const operand = input(place);
      return graph.widen(operand) ?? operand;
    },
    inputSpec: (place) => graph.tensorSpec(inputIndex(place)),
    outputIndex,
    outputTensor: (place = 0) => tensorOf(graph, outputIndex(place)),
    output: (place = 0) => graph.operand(outputIndex(place)),
    outputSpec: (place = 0) => graph.tensorSpec(outputIndex(place)),
    constantIntegers,
    integers,
    integer(place, meaning) {
      const values = integers(place, meaning);
      const [value, ...more] = values;
      check(
        value !== undefined && more.length === 0,
        () => `${meaning} (input ${place}): expected one integer, got ${listText(values)}`,
      );
      return value;
    },
    axis(axis, rank) {
      check(axis >= -rank && axis < rank, () => `axis ${axis} is not within the ${rank} dimensions`);
      return axis < 0 ? axis + rank : axis;
    },
    option,
    number: (name) => optionOf(name, (value): value is number => typeof value === "number", "a number"),
    flag: (name) => optionOf(name, (value): value is boolean => typeof value === "boolean", "a boolean"),
    text: (name) => optionOf(name, (value): value is string => typeof value === "string", "a known member"),
    list(name) {
      const value = option(name);
      if (value !== undefined && typeof value !== "object") refuse(`option ${name}: expected a list, got ${value}`);
      return value;
    },
  };
}
