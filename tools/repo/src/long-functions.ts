/** Functions and classes that are longer than the limit: none is added, none grows, and one that is short is deleted. */
export interface LongFunction {
  readonly path: string;
  readonly name: string;
  /** Its number of lines when it was put into the list, or since it was last shortened. */
  readonly lines: number;
}

export const longFunctions: readonly LongFunction[] = [];
