/**
 * A binary heap: adds and removes the least item in logarithmic time.
 */
import { elementAt } from "@nnhal/operations";

/** Items in an order. */
export interface Heap<Item> {
  readonly size: number;
  add(item: Item): void;
  /** Removes and returns the least item; undefined if the heap is empty. */
  take(): Item | undefined;
  /** Removes all items for which `isKept` is false. */
  keep(isKept: (item: Item) => boolean): void;
}

/** An empty heap. `isBefore`: whether an item comes before another. */
export function createHeap<Item>(isBefore: (a: Item, b: Item) => boolean): Heap<Item> {
  const items: Item[] = [];
  const swap = (a: number, b: number) => {
    const first = elementAt(items, a);
    items[a] = elementAt(items, b);
    items[b] = first;
  };
  const rise = (index: number) => {
    for (let at = index; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isBefore(elementAt(items, at), elementAt(items, parent))) return;
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (from: number) => {
    for (let at = from; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < items.length && isBefore(elementAt(items, child), elementAt(items, least))) least = child;
      }
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };
  return {
    get size() {
      return items.length;
    },
    add(item) {
      rise(items.push(item) - 1);
    },
    take() {
      const [first] = items;
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink(0);
      }
      return first;
    },
    keep(isKept) {
      let kept = 0;
      for (const item of items) if (isKept(item)) items[kept++] = item;
      items.length = kept;
      for (let index = (kept >> 1) - 1; index >= 0; index--) sink(index);
    },
  };
}
