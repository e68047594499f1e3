/**
 * Walks through a model in the order of a dump: a subgraph's operands, its operations, then the subgraphs that it is the
 * first to name. The model need not be valid: indexes and codes are described as far as they can be resolved.
 */
import {
  layOut,
  matchOperation,
  operandTypeText,
  operationText,
  type VendorDefinitions,
  type Vocabulary,
  vocabularyOf,
} from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  type Operation,
  operandLifeTimeNames,
  type Subgraph,
} from "@nnhal/types";
import { constantValue, type ShownValue } from "./constant-value.ts";
import { extensionDataText } from "./extension-data.ts";

/** A subgraph of a model. */
export interface SubgraphDescription {
  /** Its index among the referenced subgraphs; undefined for the main one. */
  readonly index: number | undefined;
  /** Indexes of operands. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** An operand of a subgraph. */
export interface OperandDescription {
  readonly index: number;
  /** That of `VisitOptions.operandNames`. */
  readonly name?: string;
  /** The HAL's name, `com.example.name TYPE` or `com.example.name type 1` for an extension's type, or the code in words. */
  readonly type: string;
  /** 0 if an extent is unknown. */
  readonly dimensions: readonly number[];
  /** The HAL's name, or the code in words. */
  readonly lifetime: string;
  /** Its place among the subgraph's inputs or outputs. */
  readonly input?: number;
  readonly output?: number;
  readonly numberOfConsumers: number;
  readonly scale: number;
  readonly zeroPoint: number;
  /** The extension data as text: what the codec of the type makes of it, or the bytes in hex. */
  readonly extensionData?: string;
  /** Of a constant that is short. */
  readonly value?: ShownValue;
  /** Of an operand of lifetime SUBGRAPH: the index of the subgraph. */
  readonly subgraph?: number;
}

/** An operation of a subgraph. */
export interface OperationDescription {
  readonly index: number;
  /** The HAL's name, `com.example.name NAME` or `com.example.name operation 1` for an extension's operation, or the code in words. */
  readonly type: string;
  /** Indexes of operands. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** The name of each input in the operation's definition, such as `filter`; empty if it is not known. */
  readonly inputNames: readonly string[];
  /** True if its definition is known. */
  readonly isKnown: boolean;
}

/** Options of a walk: the definitions by which codes and data of vendors are described, and names that a model does not have. */
export interface VisitOptions extends VendorDefinitions {
  /** By operand of the main subgraph: such as the names of tensors in the file that the model was made from. Default: none. */
  readonly operandNames?: readonly (string | undefined)[] | undefined;
  /** The same for each referenced subgraph. Default: none. */
  readonly referencedNames?: readonly (readonly (string | undefined)[])[] | undefined;
}

/** Receives the parts of a model during a walk. */
export interface GraphVisitor {
  begin(name: string, model: Model): void;
  beginSubgraph(subgraph: SubgraphDescription): void;
  operand(operand: OperandDescription): void;
  operation(operation: OperationDescription): void;
  /** Subgraphs that this one is the first to name have begun and ended before. */
  endSubgraph(subgraph: SubgraphDescription): void;
  end(): void;
}

/** A referenced subgraph that the walk has met. */
interface Met {
  readonly index: number;
  readonly subgraph: Subgraph;
}

/** A subgraph whose nested ones are being walked through. */
interface Frame {
  readonly description: SubgraphDescription;
  readonly nested: readonly Met[];
  next: number;
}

/** Walks through a model. */
export function visitGraph(name: string, model: Model, visitor: GraphVisitor, options: VisitOptions = {}): void {
  const { referenced } = model;
  const vocabulary = vocabularyOf(model.extensionNameToPrefix, options);
  const met = new Set<number>();
  /** Those of some subgraphs that exist and were not met before. */
  const meet = (indexes: Iterable<number>) => {
    const found: Met[] = [];
    for (const index of indexes) {
      const subgraph = referenced[index];
      if (subgraph === undefined || met.has(index)) continue;
      met.add(index);
      found.push({ index, subgraph });
    }
    return found;
  };
  const enter = (subgraph: Subgraph, index: number | undefined): Frame => {
    const { inputIndexes: inputs, outputIndexes: outputs } = subgraph;
    const description = { index, inputs, outputs };
    visitor.beginSubgraph(description);
    const names = index === undefined ? options.operandNames : options.referencedNames?.[index];
    visitSubgraph(subgraph, model, visitor, vocabulary, names);
    return { description, nested: meet(subgraphsNamedBy(subgraph)), next: 0 };
  };
  visitor.begin(name, model);
  // Frames instead of calls: subgraphs may name one another deeper than a stack is.
  const frames = [enter(model.main, undefined)];
  let unmet = 0;
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.next === frame.nested.length && frames.length === 1) {
      // Subgraphs that none of those met names, one at a time: each may name others of them.
      while (unmet < referenced.length && met.has(unmet)) unmet++;
      frames[0] = frame = { ...frame, nested: meet([unmet]), next: 0 };
    }
    const nested = frame.nested[frame.next++];
    if (nested !== undefined) frames.push(enter(nested.subgraph, nested.index));
    else {
      visitor.endSubgraph(frame.description);
      frames.pop();
    }
  }
  visitor.end();
}

function* subgraphsNamedBy({ operands }: Subgraph): Generator<number> {
  for (const { lifetime, location } of operands) if (lifetime === OperandLifeTime.SUBGRAPH) yield location.offset;
}

function visitSubgraph(
  subgraph: Subgraph,
  model: Model,
  visitor: GraphVisitor,
  vocabulary: Vocabulary,
  names: VisitOptions["operandNames"] = [],
): void {
  const { operands, operations } = subgraph;
  const inputs = placesOf(subgraph.inputIndexes);
  const outputs = placesOf(subgraph.outputIndexes);
  for (const [index, operand] of operands.entries()) {
    const name = names[index];
    const described = describeOperand(operand, index, inputs.get(index), outputs.get(index), model, vocabulary);
    visitor.operand(name === undefined ? described : { ...described, name });
  }
  for (const [index, operation] of operations.entries()) {
    visitor.operation(describeOperation(operation, index, operands, model, vocabulary));
  }
}

function placesOf(indexes: readonly number[]): ReadonlyMap<number, number> {
  return new Map(indexes.map((index, place) => [index, place]));
}

function describeOperand(
  operand: Operand,
  index: number,
  input: number | undefined,
  output: number | undefined,
  model: Model,
  vocabulary: Vocabulary,
): OperandDescription {
  const { type, dimensions, lifetime, numberOfConsumers, scale, zeroPoint, location } = operand;
  const value = constantValue(operand, model);
  const extensionData = extensionDataText(operand, vocabulary);
  return {
    index,
    type: operandTypeText(type, model.extensionNameToPrefix, vocabulary),
    dimensions,
    lifetime: operandLifeTimeNames.get(lifetime) ?? `lifetime ${lifetime}`,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    numberOfConsumers,
    scale,
    zeroPoint,
    ...(extensionData !== undefined && { extensionData }),
    ...(value !== undefined && { value }),
    ...(lifetime === OperandLifeTime.SUBGRAPH && { subgraph: location.offset }),
  };
}

function describeOperation(
  operation: Operation,
  index: number,
  operands: readonly Operand[],
  { extensionNameToPrefix }: Model,
  vocabulary: Vocabulary,
): OperationDescription {
  const { type, inputs, outputs } = operation;
  return {
    index,
    type: operationText(type, extensionNameToPrefix, vocabulary),
    inputs,
    outputs,
    inputNames: inputNamesOf(operation, operands, vocabulary),
    isKnown: vocabulary.operationByCode(type) !== undefined,
  };
}

/** Names of the inputs, if the operation is known and its operands match. */
function inputNamesOf(
  { type, inputs, outputs }: Operation,
  operands: readonly Operand[],
  { operationByCode, operandTypeByCode }: Vocabulary,
): readonly string[] {
  const definition = operationByCode(type);
  if (definition === undefined) return [];
  const typesOf = (indexes: readonly number[]) =>
    indexes.map((index) => {
      const operand = operands[index];
      return operand && operandTypeByCode(operand.type);
    });
  const match = matchOperation(definition, typesOf(inputs), typesOf(outputs));
  if ("mismatch" in match) return [];
  const { params, counts } = match.form;
  return (layOut(params, counts, inputs.length) ?? []).map(({ name }) => name);
}
