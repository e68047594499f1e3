/** Why an operation is not compiled. */

/** A valid operation that this engine does not have in this form. The message goes to the user. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Refuses an operation. */
export function refuse(reason: string): never {
  throw new Refusal(reason);
}
