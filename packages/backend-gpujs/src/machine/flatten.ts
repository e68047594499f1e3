/** Results of gpu.js as one list. With more than one extent they are nested lists. */

/** All numbers in a nested list, in order. A flat list is returned as it is. */
export function flatten(nested: unknown, length: number): Float32Array {
  if (nested instanceof Float32Array && nested.length === length) return nested;
  const flat = new Float32Array(length);
  const end = flattenInto(nested, flat, 0);
  if (end !== length) throw new Error(`gpu.js: expected ${length} elements, got ${end}`);
  return flat;
}

function flattenInto(nested: unknown, flat: Float32Array, start: number): number {
  if (nested instanceof Float32Array) {
    flat.set(nested, start);
    return start + nested.length;
  }
  if (!Array.isArray(nested)) throw new Error("gpu.js did not return a list of numbers");
  let end = start;
  if (typeof nested[0] === "number") {
    // The few elements of one thread: a loop is faster than a call.
    for (let place = 0; place < nested.length; place++) flat[end++] = nested[place];
    return end;
  }
  for (const part of nested) end = flattenInto(part, flat, end);
  return end;
}
