/**
 * Draws one operation for a subgraph in the making: of a signature, with operands that are there if any fit, that are made to fit, or
 * that are new.
 */
import { elementAt, elementCount, isFloat, isTensorType, type Tensor } from "@nnhal/operations";
import { isAidl } from "@nnhal/types";
import { drawOperation, type RandomOperation } from "../random/draw.ts";
import { type Fill, randomScale } from "../random/elements.ts";
import { kernelOperations } from "../random/examples.ts";
import { type Signature, signaturesOf } from "../random/signature.ts";
import { isWantedTensor, type WantedTensor } from "../random/wanted.ts";
import { adapt } from "./adapt.ts";
import {
  addConstant,
  addInput,
  addOmitted,
  addOperation,
  hasElements,
  isSameInfo,
  isSameShape,
  orNothing,
  type Scope,
  valueAt,
} from "./scope.ts";

/** Every way to run a graph can express it: launches are those of HAL 1.3. */
const byOperation: readonly (readonly Signature[])[] = kernelOperations()
  .map((operation) => signaturesOf(operation).filter(({ row: [since] }) => !isAidl(since)))
  .filter((signatures) => signatures.length > 0);

/** All signatures of the operations that have a kernel: the first one of each, the second ones, and so on. */
export const allSignatures: readonly Signature[] = Array.from(
  { length: Math.max(...byOperation.map(({ length }) => length)) },
  (_, place) => byOperation.flatMap((signatures) => signatures[place] ?? []),
).flat();

/** The most inputs of a model. */
const mostInputs = 6;

/** Operations of floats that have no result, or none that is finite, for numbers below 0: they read magnitudes. */
const ofMagnitudes: ReadonlySet<string> = new Set(["LOG", "POW", "RSQRT", "SQRT"]);

/** By type of a value: the operations that can read it, each with its signatures. */
const readers = new Map<string, readonly (readonly Signature[])[]>();

function readersOf(type: string): readonly (readonly Signature[])[] {
  let known = readers.get(type);
  if (known === undefined) {
    const reading = allSignatures.filter(({ inputs, types }) =>
      inputs.some((param) => param.kind === "tensor" && !param.read && types.get(param) === type),
    );
    const operations = new Set(reading.map(({ operation }) => operation));
    known = [...operations].map((operation) => reading.filter((signature) => signature.operation === operation));
    readers.set(type, known);
  }
  return known;
}

/** A value to read: more often one that nothing has read yet, so that graphs become deep, and a late one. */
export function pickReadable({ readable, random, values, operations }: Scope): number | undefined {
  const full = readable.filter((index) => {
    const value = values[index];
    return value !== undefined && hasElements(value);
  });
  const read = new Set(operations.flatMap(({ inputs }) => inputs));
  const unread = full.filter((index) => !read.has(index));
  const from = unread.length > 0 && random.chance(0.5) ? unread : full;
  return from[from.length - 1 - Math.floor(random.next() ** 2 * from.length)];
}

/** Adds an operation of some signature that reads a value that is there. Returns whether one was found. */
export function addSomeOperation(scope: Scope): boolean {
  const { random } = scope;
  for (let tries = 0; tries < 8; tries++) {
    const offer = pickReadable(scope);
    if (offer === undefined) return false;
    const able = readersOf(String(valueAt(scope, offer).type));
    if (able.length === 0) continue;
    if (addOperationOf(scope, random.pick(random.pick(able)), offer)) return true;
  }
  return false;
}

/**
 * Adds an operation again, often with one operand changed: compilers may join equal operations, and must not join different
 * ones.
 */
export function repeatOperation(scope: Scope): boolean {
  const { random, operations, operands, values } = scope;
  const simple = operations.filter(({ type, outputs }) => outputs.length === 1 && type !== "IF" && type !== "WHILE");
  if (simple.length === 0) return false;
  const { type, inputs, outputs } = random.pick(simple);
  const position = random.integer(0, inputs.length - 1);
  const old = values[elementAt(inputs, position)];
  const others = operands.flatMap((_, index) => {
    const other = values[index];
    return other !== undefined && old !== undefined && isSameInfo(other, old) ? [index] : [];
  });
  const other = others.length === 0 || random.chance(0.2) ? inputs[position] : random.pick(others);
  const result = valueAt(scope, elementAt(outputs, 0));
  if (other === undefined) return false;
  return orNothing(scope, () => addOperation(scope, type, inputs.with(position, other), [result])) !== undefined;
}

/** Adds an operation of a signature. It reads `offer` if it can. Returns whether it was added. */
export function addOperationOf(scope: Scope, signature: Signature, offer: number | undefined): boolean {
  const { random } = scope;
  const offered = offer === undefined ? undefined : valueAt(scope, offer);
  const fits = (least: number, greatest: number) =>
    offered !== undefined && offered.dimensions.length >= least && offered.dimensions.length <= greatest;
  let scales = 0;
  const extent = () => random.pick([1, 1, 2, 2, 3, 4, 5]);
  const fill: Fill = random.pick(["plain", "fine", "fine", "fine", "mixed"]);
  const drawn = drawOperation(signature, random, {
    spoilt: 0,
    fill,
    steer: {
      shape: (least = 1, greatest = 4) =>
        offered !== undefined && fits(least, greatest) && random.chance(0.9)
          ? [...offered.dimensions]
          : Array.from({ length: random.integer(least, greatest) }, extent),
      offerShape: (rank) => (fits(rank, rank) ? offered?.dimensions : undefined),
      scale: () => (scales++ === 0 && offered !== undefined && offered.scale > 0 ? offered.scale : randomScale(random)),
    },
  });
  const added = orNothing(scope, () => {
    const inputs: number[] = [];
    for (const [position, input] of drawn.inputs.entries()) {
      const operand = operandFor(scope, drawn, position, input, offer);
      if (operand === undefined) return undefined;
      inputs.push(position === 0 && ofMagnitudes.has(signature.operation.name) ? magnitudeOf(scope, operand) : operand);
    }
    // As types are in the signature, each is one of the HAL's.
    return addOperation(scope, signature.operation.name as Parameters<typeof addOperation>[1], inputs, drawn.outputs);
  });
  return added !== undefined;
}

function magnitudeOf(scope: Scope, operand: number): number {
  return addOperation(scope, "ABS", [operand], [{ ...valueAt(scope, operand) }])?.[0] ?? operand;
}

/** The operand of an input; undefined if a model cannot have it. */
function operandFor(
  scope: Scope,
  { signature, wanted }: RandomOperation,
  position: number,
  input: Tensor | undefined,
  offer: number | undefined,
): number | undefined {
  const { random, depth } = scope;
  const param = elementAt(signature.inputs, position);
  if (input === undefined) {
    const type = signature.types.get(param);
    return type === undefined || !param.omittable ? undefined : addOmitted(scope, type);
  }
  if (!isTensorType(input.type)) return addConstant(scope, input);
  const asked = wanted?.[position];
  const isFree = isWantedTensor(asked) && asked.values === undefined && asked.reals === undefined;
  if (isFree) {
    const found = findExisting(scope, input, asked, offer);
    if (found !== undefined && random.chance(0.95)) return found;
    const isFirst = !signature.inputs.slice(0, position).some(({ kind }) => kind === "tensor");
    if (random.chance(isFirst ? 0.85 : 0.12)) {
      const adapted = adaptValue(scope, input, offer);
      if (adapted !== undefined) return adapted;
    }
  }
  if (elementCount(input.dimensions) === 0) return undefined;
  const inputs = scope.operands.filter(({ lifetime }) => lifetime === "SUBGRAPH_INPUT").length;
  const mayBeInput = depth === 0 && inputs < mostInputs && input.channelQuant === undefined;
  return mayBeInput && random.chance(isFree ? 0.3 : 0.1) ? addInput(scope, input) : addConstant(scope, input);
}

/** A value, or a constant, that can stand for a drawn one. */
function findExisting(
  { random, readable, operands, values }: Scope,
  input: Tensor,
  { scale, zeroPoint }: WantedTensor,
  offer: number | undefined,
): number | undefined {
  const fits = (index: number) => {
    const value = values[index];
    return (
      value !== undefined &&
      value.type === input.type &&
      value.channelQuant === undefined &&
      isSameShape(value.dimensions, input.dimensions) &&
      (scale === undefined || value.scale === input.scale) &&
      (zeroPoint === undefined || value.zeroPoint === input.zeroPoint) &&
      // The scale of a bias says that its elements are not numbers of their own.
      (isFloat(value.type) || value.scale > 0 === input.scale > 0)
    );
  };
  if (offer !== undefined && fits(offer) && random.chance(0.8)) return offer;
  const fitting = readable.filter(fits);
  const constants = operands.flatMap(({ lifetime }, index) =>
    lifetime.startsWith("CONSTANT") && fits(index) ? [index] : [],
  );
  if (fitting.length > 0 && (constants.length === 0 || random.chance(0.8))) return random.pick(fitting);
  return constants.length > 0 ? random.pick(constants) : undefined;
}

/** A value of another type or shape, made to fit. */
function adaptValue(scope: Scope, input: Tensor, offer: number | undefined): number | undefined {
  const { random } = scope;
  const from = offer !== undefined && random.chance(0.7) ? offer : pickReadable(scope);
  if (from === undefined || input.channelQuant !== undefined) return undefined;
  return orNothing(scope, () => adapt(scope, from, input));
}
