/** Shapes of a graph's tensors that differ from those that the file stores. */

import { isUnranked, openShape } from "../shapes.ts";
import { operandExtents, VARIES, type Varying } from "../varying.ts";
import { draftOf, ensureSize, valueOperand } from "./operands.ts";
import { type GraphWork, placeOf, replaceShape, tensorAt } from "./tensors.ts";

/** The extents that the file says, 0 where it leaves them open. */
export function declaredShape(work: GraphWork, tensor: number): readonly number[] {
  const open = openShape(tensorAt(work, tensor));
  return open.length === 0 ? [1] : open.map((extent) => Math.max(extent, 0));
}

/** Notes that a tensor has another shape than the stored one, and whether the file says so. */
export function noteShape(work: GraphWork, tensor: number, given: Varying): void {
  const { reshaped, unforeseen } = work.state;
  reshaped.set(tensor, true);
  if (given.includes(VARIES)) {
    unforeseen.set(tensor, true);
    return;
  }
  const said = declaredShape(work, tensor);
  const shape = tensorAt(work, tensor).type === "STRING" ? given.slice(0, said.length) : given;
  // One that was unforeseen before must be known now.
  const isOpen = unforeseen.has(tensor) ? () => false : (extent: number) => extent === 0;
  const isSaid = (extent: number, place: number) => said[place] === 0 || said[place] === extent || isOpen(extent);
  if (shape.length === said.length && shape.every(isSaid)) unforeseen.delete(tensor);
  else unforeseen.set(tensor, true);
}

/** Gives an operand another shape than the file stores. */
export function reshapeOperand(work: GraphWork, operand: number, shape: Varying): void {
  const { operands, tensorByOperand } = work.state;
  const draft = { ...draftOf(work, operand), dimensions: operandExtents(shape) };
  const tensor = tensorByOperand.get(operand);
  ensureSize(draft, tensor === undefined ? work.source.path : placeOf(work, tensor));
  operands.set(operand, draft);
  if (tensor === undefined) return;
  const { type, shape: stored } = tensorAt(work, tensor);
  noteShape(work, tensor, shape);
  // The last extent of strings is the size of their rows.
  replaceShape(work, tensor, type === "STRING" ? shape.slice(0, Math.max(stored.length, 1)) : shape);
}

/** Makes extents of a tensor unknown, as Graph.loosen says. */
export function loosenShape(work: GraphWork, tensor: number, sources: readonly number[], isComputed: boolean): void {
  const { operandByTensor, reshaped, unforeseen } = work.state;
  const { shape, shapeSignature: signature } = tensorAt(work, tensor);
  if (operandByTensor.has(tensor)) return;
  if (sources.some((source) => unforeseen.has(source))) {
    const unknown = shape.map(() => -1);
    replaceShape(work, tensor, unknown);
    reshaped.set(tensor, true);
    unforeseen.set(tensor, true);
    return;
  }
  if (signature?.length !== shape.length) return;
  const isOther = isComputed || sources.some((source) => reshaped.has(source));
  if (!signature.includes(-1) || !isOther) return;
  replaceShape(work, tensor, signature);
  reshaped.set(tensor, true);
}

/** True if the file leaves extents of an operand's tensor open, and nothing contradicts it. */
export function leavesOpen(work: GraphWork, operand: number): boolean {
  const tensor = work.state.tensorByOperand.get(operand);
  return tensor !== undefined && !work.state.unforeseen.has(tensor) && declaredShape(work, tensor).includes(0);
}

/** True if an operand is a tensor without a stored shape: a scalar or one of an unknown rank. */
export function isUnrankedOperand(work: GraphWork, operand: number): boolean {
  const tensor = work.state.tensorByOperand.get(operand);
  return tensor !== undefined && isUnranked(tensorAt(work, tensor));
}

/** Known part of the shape of a tensor's operand. */
export function varyingShape(work: GraphWork, tensor: number): Varying {
  const { dimensions } = draftOf(work, valueOperand(work, tensor));
  const isUnforeseen = work.state.unforeseen.has(tensor);
  return isUnforeseen ? dimensions.map((extent) => (extent === 0 ? VARIES : extent)) : dimensions;
}
