/**
 * Functions that have the same code except numbers such as addresses share it: it is compiled once, and takes these numbers as parameters. Networks
 * have the same layer many times.
 */
import { type Code, type Given, type Local, writeCode } from "../assembler/code.ts";
import type { FunctionSpec } from "../assembler/module.ts";

/** The code of a function, and the numbers that it is given. */
interface Shape {
  /** The same for functions with the same code. */
  readonly key: string;
  readonly given: readonly Given[];
}

/** Stands for the first given number; no function has so many locals. */
const firstGiven = 2 ** 20;

/** Functions of which each keeps its number and its parameters. Those with the same code call one that is appended. */
export function shareCode(functions: readonly FunctionSpec[]): FunctionSpec[] {
  const shapes = functions.map((each) => (each.isApart ? undefined : shapeOf(each)));
  const alike = new Map<string, number[]>();
  for (const [place, shape] of shapes.entries()) {
    if (shape === undefined) continue;
    const places = alike.get(shape.key) ?? [];
    places.push(place);
    alike.set(shape.key, places);
  }
  const result = [...functions];
  for (const places of alike.values()) {
    const [first = 0] = places;
    const original = functions[first];
    if (places.length === 1 || original === undefined) continue;
    const all = places.map((place) => shapes[place]?.given ?? []);
    const given = all[0] ?? [];
    // Numbers that are the same in all of them stay constants.
    const differing = [...given.keys()].filter((index) => all.some((each) => !isSame(each[index], given[index])));
    const number = result.push(sharedFunction(original, given, differing)) - 1;
    for (const [index, place] of places.entries()) {
      const caller = result[place];
      if (caller !== undefined)
        result[place] = { ...caller, write: callOf(caller, number, differing, all[index] ?? []) };
    }
  }
  return result;
}

function shapeOf({ params, results, write }: FunctionSpec): Shape {
  const places = new Map<string, number>();
  const given: Given[] = [];
  const localOf = (value: Given): Local => {
    const key = `${value}`;
    const place = places.get(key) ?? given.push(value) - 1;
    places.set(key, place);
    return firstGiven + place;
  };
  const { locals, bytes } = writeCode(params, write, localOf);
  const types = given.map((value) => (typeof value === "number" ? "i32" : "v128"));
  // This encoding has a character for each byte.
  const text = new TextDecoder("latin1").decode(bytes);
  return { key: `${params};${results};${locals};${types};${text}`, given };
}

function isSame(one: Given | undefined, other: Given | undefined): boolean {
  return `${one}` === `${other}`;
}

/** A function that takes the differing ones of given numbers after its parameters. */
function sharedFunction(original: FunctionSpec, given: readonly Given[], differing: readonly number[]): FunctionSpec {
  const { params } = original;
  const types = differing.map((index) => (typeof given[index] === "number" ? "i32" : "v128"));
  const locals = new Map(differing.map((index, place) => [`${given[index]}`, params.length + place]));
  return {
    ...original,
    name: `shared ${original.name}`,
    params: [...params, ...types],
    isExported: false,
    localOf: (value) => locals.get(`${value}`),
  };
}

/** Calls a shared function with the parameters, and the differing numbers. */
function callOf({ params }: FunctionSpec, number: number, differing: readonly number[], given: readonly Given[]) {
  return (code: Code): void => {
    for (const place of params.keys()) code.get(place);
    for (const index of differing) {
      const value = given[index];
      if (value !== undefined) code.given(value);
    }
    code.op("call", number);
  };
}
