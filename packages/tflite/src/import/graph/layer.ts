/**
 * Maps whose changes can be held apart: a layer over a map reads through to it, and leaves it as it is until `keep`. A draft of a graph
 * consists of such layers.
 */

/** A map, or a layer over one. A value is never undefined. */
export class Layer<Key, Value> {
  readonly #below: Layer<Key, Value> | undefined;
  /** Undefined is an entry of the map below that was removed. */
  readonly #own = new Map<Key, Value | undefined>();
  #size: number;

  constructor(below?: Layer<Key, Value>) {
    this.#below = below;
    this.#size = below?.size ?? 0;
  }

  /** Number of entries, with those below. */
  get size(): number {
    return this.#size;
  }

  get(key: Key): Value | undefined {
    const own = this.#own.get(key);
    return own === undefined && !this.#own.has(key) ? this.#below?.get(key) : own;
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  set(key: Key, value: Value): void {
    if (!this.has(key)) this.#size++;
    this.#own.set(key, value);
  }

  delete(key: Key): void {
    if (!this.has(key)) return;
    this.#size--;
    if (this.#below?.has(key)) this.#own.set(key, undefined);
    else this.#own.delete(key);
  }

  /** The entries of this layer alone, in the order in which they were added; without those that were removed. */
  own(): (readonly [key: Key, value: Value])[] {
    return [...this.#own].flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  }

  /** Makes the changes in the map below. */
  keep(): void {
    for (const [key, value] of this.#own) {
      if (value === undefined) this.#below?.delete(key);
      else this.#below?.set(key, value);
    }
  }
}

/** Adds a value to a map from places to values; returns its place. */
export function push<Value>(list: Layer<number, Value>, value: Value): number {
  const place = list.size;
  list.set(place, value);
  return place;
}

/** The values of a list that is not a layer over another. */
export function valuesOf<Value>(list: Layer<number, Value>): Value[] {
  return list.own().map(([, value]) => value);
}
