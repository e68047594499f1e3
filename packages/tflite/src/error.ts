/**
 * The one error of this package: a file that is broken, or a model that cannot be expressed, with the place it happened.
 */

/** What is wrong with a .tflite model, and where. */
export class TfliteError extends Error {
  override readonly name = "TfliteError";
  /** The place in the model, such as `subgraphs[0].operators[3]`; empty for the file as a whole. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === "" ? problem : `${path}: ${problem}`);
    this.path = path;
  }
}

/** Refuses with a TfliteError. `problem` says the rule and the actual value. */
export function fail(path: string, problem: string): never {
  throw new TfliteError(path, problem);
}

/** What a value is, for a message: `a string`, `an array`, `the number 3`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return "a string";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `the ${typeof value} ${String(value)}`;
  if (Array.isArray(value)) return "an array";
  return value instanceof Promise ? "a Promise" : "an object";
}

/** Refuses unless the condition holds. */
export function ensure(condition: boolean, path: string, problem: () => string): asserts condition {
  if (!condition) fail(path, problem());
}
