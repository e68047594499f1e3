/**
 * The one error of this package: a broken file, or a model that cannot be expressed, with the place.
 */

/** A defect of a .tflite model, and its place. */
export class TfliteError extends Error {
  override readonly name = "TfliteError";
  /** The place in the model, such as `subgraphs[0].operators[3]`; empty for the file as a whole. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === "" ? problem : `${path}: ${problem}`);
    this.path = path;
  }
}

/** Throws a TfliteError. `problem` names the rule and the actual value. */
export function fail(path: string, problem: string): never {
  throw new TfliteError(path, problem);
}

/** The kind of a value, for a message: `a string`, `an array`, `the number 3`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return "a string";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `the ${typeof value} ${String(value)}`;
  if (Array.isArray(value)) return "an array";
  return value instanceof Promise ? "a Promise" : "an object";
}

/** Throws a TfliteError unless the condition holds. */
export function ensure(condition: boolean, path: string, problem: () => string): asserts condition {
  if (!condition) fail(path, problem());
}
