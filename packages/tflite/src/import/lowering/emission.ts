/** Emits operations for an operator: those of the HAL, or the extension's if the HAL's does not accept the operands. */
import { combineDimensions, elementAt, layOut, type Operation } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import { type Dialect, halOperation } from "../dialect.ts";
import { extension } from "../extension.ts";
import { inferredShapes, otherQuantisations, shapeProblem } from "../infer.ts";
import { signatureProblem } from "../signature.ts";
import { describeTensors, type OperatorAccess } from "./access.ts";

/** The ways to emit an operation. */
export interface Emission {
  /** Emits an operation of the HAL, or the extension's of that name if the HAL's does not accept the operands. */
  emit(operation: OperationTypeName, inputs: readonly number[], outputs: readonly number[]): void;
  /** Emits an operation with the right signature. Its results get the shapes that follow from the inputs. */
  emitChecked(operation: Operation, inputs: readonly number[], outputs: readonly number[]): void;
  /**
   * Emits the extension's operation of a name, if it accepts the operands, or would accept constants as they are in the file. Otherwise
   * returns why not, as the end of a message; empty if the extension lacks the operation.
   */
  emitExtension(name: string, inputs: readonly number[], outputs: readonly number[]): "emitted" | string;
  /** The same with an operation of the extension. */
  emitIfAccepted(operation: Operation, inputs: readonly number[], outputs: readonly number[]): "emitted" | string;
  /** Copies elements as they are stored to an operand of another quantisation. False if only the extension could do that. */
  copyStored(from: number, to: number): boolean;
  /**
   * Why an operation of the HAL does not take operands: by their types or, if the caller chose shapes, by those that follow from them.
   * Undefined if it does.
   */
  problemOf(operation: Operation, inputs: readonly number[], outputs: readonly number[]): string | undefined;
}

/** Options of choosing an operator's operations. */
export interface EmissionOptions {
  readonly dialect: Dialect;
  /** True if extents that the file leaves open follow from those of the inputs; else they stay open. */
  readonly infersShapes: boolean;
  /** True if an operator of the HAL is refused if its shapes do not fit each other: those that follow from a caller's are checked, not the file's. */
  readonly checksShapes: boolean;
}

export function createEmission(
  access: OperatorAccess,
  { dialect, infersShapes, checksShapes }: EmissionOptions,
): Emission {
  const { graph, operator } = access;
  const findValued = (inputs: readonly number[]) =>
    inputs.map((input) => ({ ...graph.spec(input), value: graph.valueOf(input) }));

  function emit(name: OperationTypeName, inputs: readonly number[], outputs: readonly number[]): void {
    const operation = halOperation(name);
    access.ensure(operation !== undefined, () => `no definition of the HAL's ${name} is known`);
    adoptShapes(operation, inputs, outputs);
    const ofTypes = problemOfTypes(operation, inputs, outputs);
    const problem = ofTypes ?? problemOfChosen(operation, inputs, outputs);
    const extended = problem === undefined ? "" : emitExtension(name, inputs, outputs);
    if (extended === "emitted") return;
    const isSixteenBit = [...inputs, ...outputs].some((operand) => graph.spec(operand).type === "TENSOR_QUANT16_SYMM");
    const help = isSixteenBit ? "convert the model with 8-bit activations, or with floats" : undefined;
    access.ensure(
      problem === undefined,
      () => `${problem}${ofTypes === undefined ? "" : extended}. The tensors are ${describeTensors(access)}`,
      help,
    );
    emitChecked(operation, inputs, outputs);
  }

  function emitChecked(operation: Operation, inputs: readonly number[], outputs: readonly number[]): void {
    graph.emit(operation, inputs, outputs, access.index);
    adoptShapes(operation, inputs, outputs);
  }

  /** Gives results the shapes that follow from the inputs, whatever the file stores, as TensorFlow Lite does. */
  function adoptShapes(operation: Operation, inputs: readonly number[], outputs: readonly number[]): void {
    const shapes = inferredShapes(operation, findValued(inputs), outputs.map(graph.spec));
    for (const [place, output] of outputs.entries()) {
      const { dimensions } = graph.spec(output);
      // Extents that data determine are not those that the file stores.
      const open = operation.dynamic ? dimensions.map(() => 0) : undefined;
      const inferred = shapes?.[place] ?? (graph.isUnranked(output) ? [] : open);
      if (inferred === undefined || inferred.join() === dimensions.join()) continue;
      const isOpen = !infersShapes && graph.leavesOpen(output);
      const isKept = isOpen && combineDimensions(dimensions, inferred) !== undefined;
      if (!isKept) graph.reshape(output, inferred);
    }
  }

  function emitExtension(name: string, inputs: readonly number[], outputs: readonly number[]): "emitted" | string {
    const operation = dialect.operationOf(name);
    return operation === undefined ? "" : emitIfAccepted(operation, inputs, outputs);
  }

  function emitIfAccepted(
    operation: Operation,
    inputs: readonly number[],
    outputs: readonly number[],
  ): "emitted" | string {
    let problem: string | undefined;
    // Operands as in the file are made only if they are needed.
    for (const candidateOf of [() => inputs, () => inputsAsInFile(graph, operation, inputs)]) {
      const candidate = candidateOf();
      adoptShapes(operation, candidate, outputs);
      problem =
        problemOfTypes(operation, candidate, outputs) ?? problemOfShapes("extension", operation, candidate, outputs);
      if (problem !== undefined) continue;
      problem = emitMoving(operation, candidate, outputs);
      if (problem !== undefined) continue;
      return "emitted";
    }
    return `; ${problem}`;
  }

  /** Emits an operation of the extension; one that moves elements may have results of another quantisation. Returns why not. */
  function emitMoving(operation: Operation, inputs: readonly number[], outputs: readonly number[]): string | undefined {
    const others = otherQuantisations(operation, findValued(inputs), outputs.map(graph.spec));
    const [first] = others;
    if (first !== undefined && !extension().movingOperators.has(operator.name)) {
      const [place, { scale, zeroPoint }] = first;
      return `the extension's ${operation.name} cannot compute it: output ${place} needs scale ${scale} and zero point ${zeroPoint}`;
    }
    const results = outputs.map((output, place) => {
      const needed = others.get(place);
      return needed === undefined ? output : graph.temporary({ ...graph.spec(output), ...needed });
    });
    emitChecked(operation, inputs, results);
    for (const place of others.keys()) copyStored(elementAt(results, place), elementAt(outputs, place));
    return undefined;
  }

  function copyStored(from: number, to: number): boolean {
    const operation = dialect.operationOf("BITCAST");
    if (operation === undefined) return false;
    emitChecked(operation, [from], [to]);
    return true;
  }

  function problemOf(operation: Operation, inputs: readonly number[], outputs: readonly number[]): string | undefined {
    return problemOfTypes(operation, inputs, outputs) ?? problemOfChosen(operation, inputs, outputs);
  }

  function problemOfTypes(operation: Operation, inputs: readonly number[], outputs: readonly number[]) {
    return signatureProblem(operation, inputs.map(graph.spec), outputs.map(graph.spec), dialect.halVersion);
  }

  function problemOfChosen(operation: Operation, inputs: readonly number[], outputs: readonly number[]) {
    return checksShapes ? problemOfShapes("HAL", operation, inputs, outputs) : undefined;
  }

  function problemOfShapes(
    owner: "HAL" | "extension",
    operation: Operation,
    inputs: readonly number[],
    outputs: readonly number[],
  ) {
    const problem = shapeProblem(operation, findValued(inputs), outputs.map(graph.spec));
    return problem && `the ${owner}'s ${operation.name} cannot compute it: ${problem}`;
  }

  return { emit, emitChecked, emitExtension, emitIfAccepted, copyStored, problemOf };
}

/** Inputs with the 64-bit integers of the file, except where the operation has a fixed type. */
function inputsAsInFile(
  graph: OperatorAccess["graph"],
  { forms }: Operation,
  inputs: readonly number[],
): readonly number[] {
  const params = forms.flatMap(({ params, counts }) => [layOut(params, counts, inputs.length) ?? []]);
  const [positions = []] = params.filter((list) => list.length > 0);
  return inputs.map((input, place) => (positions[place]?.type === undefined ? (graph.widen(input) ?? input) : input));
}
