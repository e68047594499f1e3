/**
 * Copying of untrusted lists: each element is read once, so that later changes of the caller's list, or of what its getters return, have
 * no effect.
 */
import { show } from "./issues.ts";

/** A part of a value does not have the structure that it must have. */
export class Unreadable extends Error {}

/** A list claims to be longer than any that is used. None of its elements is read. */
export class TooLong extends Unreadable {}

/** The most elements of a list: a longer one could not be kept, and would take too long to read. */
export const longestList = 2 ** 24;

/** The elements of a list, each taken. Stops at the first that cannot be, however long the list claims to be. Throws Unreadable. */
export function takeList<Item, Taken>(list: readonly Item[], what: string, take: (item: Item) => Taken): Taken[] {
  if (!Array.isArray(list)) throw new Unreadable(`${what}: expected an array, got ${show(list)}`);
  const { length } = list;
  if (length > longestList) throw new TooLong(`${what} has ${length} elements, more than ${longestList}`);
  const taken: Taken[] = [];
  for (let index = 0; index < length; index++) taken.push(take(list[index]));
  return taken;
}

const noNumbers: readonly number[] = [];

/** A list of numbers. Throws Unreadable. */
export function takeNumbers(list: readonly number[], what: string): readonly number[] {
  return Array.isArray(list) && list.length === 0 ? noNumbers : takeList(list, what, takeNumber);
}

function takeNumber(value: number): number {
  if (typeof value !== "number") throw new Unreadable(`${show(value)} is not a number`);
  return value;
}
