/**
 * Typed arrays that notice a kernel's accesses: which elements it writes, and whether it reads or writes outside of them, which
 * JavaScript permits silently.
 */
import type { TensorData } from "@nnhal/operations";

/** Accesses that were noticed. */
export interface Watch {
  /** The first access outside the elements, in words. */
  outside: string | undefined;
  /** For each element whether it was written. */
  readonly written: Uint8Array;
}

/** Returns the same elements, watched. Accesses of the array's own methods are noticed too. */
export function watchData<Data extends TensorData>(data: Data): { readonly data: Data; readonly watch: Watch } {
  const watch: Watch = { outside: undefined, written: new Uint8Array(data.length) };
  return { data: watchElements(data, watch, 0), watch };
}

/** `first`: the place of the array's first element among those that the watch is over. */
function watchElements<Data extends TensorData>(target: Data, watch: Watch, first: number): Data {
  const mark = (start: number, end: number) => watch.written.fill(1, first + start, first + Math.max(start, end));
  const resolve = (index: number) => {
    const whole = Math.trunc(index) || 0;
    return whole < 0 ? Math.max(0, target.length + whole) : Math.min(whole, target.length);
  };
  const methods = {
    set(source: ArrayLike<number>, offset = 0) {
      target.set(source, offset);
      mark(offset, offset + source.length);
    },
    fill(value: number, start = 0, end = target.length) {
      target.fill(value, start, end);
      mark(resolve(start), resolve(end));
      return proxy;
    },
    copyWithin(to: number, start: number, end = target.length) {
      target.copyWithin(to, start, end);
      mark(resolve(to), Math.min(target.length, resolve(to) + Math.max(0, resolve(end) - resolve(start))));
      return proxy;
    },
    sort(compare?: (a: number, b: number) => number) {
      target.sort(compare);
      mark(0, target.length);
      return proxy;
    },
    subarray: (start = 0, end = target.length) =>
      watchElements(target.subarray(start, end), watch, first + resolve(start)),
  };
  const proxy = new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key);
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value === "function" && key !== "constructor") return value.bind(target);
      if (value === undefined && typeof key === "string") watch.outside ??= `element ${key} was read`;
      return value;
    },
    set(_, key, value) {
      if (key in target) mark(Number(key), Number(key) + 1);
      else watch.outside ??= `element ${String(key)} was written`;
      return Reflect.set(target, key, value, target);
    },
  });
  return proxy;
}
