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

/** Refuses unless the condition holds. */
export function ensure(condition: boolean, path: string, problem: () => string): asserts condition {
  if (!condition) fail(path, problem());
}
