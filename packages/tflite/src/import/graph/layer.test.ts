import { describe, expect, it } from "vitest";
import { Layer, push, valuesOf } from "./layer.ts";

function layers() {
  const below = new Layer<string, number>();
  below.set("a", 1);
  below.set("b", 2);
  return { below, above: new Layer(below) };
}

describe("A layer over a map", () => {
  it("reads through to the map", () => {
    const { above } = layers();
    expect([above.get("a"), above.has("b"), above.get("c"), above.size]).toEqual([1, true, undefined, 2]);
  });

  it("leaves the map as it is until it is kept", () => {
    const { below, above } = layers();
    above.set("a", 10);
    above.set("c", 3);
    above.delete("b");
    expect([above.get("a"), above.get("b"), above.get("c"), above.size]).toEqual([10, undefined, 3, 2]);
    expect([below.get("a"), below.get("b"), below.get("c"), below.size]).toEqual([1, 2, undefined, 2]);
    above.keep();
    expect([below.get("a"), below.get("b"), below.get("c"), below.size]).toEqual([10, undefined, 3, 2]);
  });

  it("counts an entry that is removed and set again once", () => {
    const { below, above } = layers();
    above.delete("a");
    above.delete("a");
    above.set("a", 5);
    expect([above.size, above.get("a"), below.get("a")]).toEqual([2, 5, 1]);
  });

  it("forgets an entry of its own that is removed", () => {
    const { above } = layers();
    above.set("c", 3);
    above.delete("c");
    expect([above.size, above.has("c"), above.own()]).toEqual([2, false, []]);
  });

  it("continues the places of a list", () => {
    const list = new Layer<number, string>();
    push(list, "first");
    const draft = new Layer(list);
    expect(push(draft, "second")).toBe(1);
    draft.set(0, "changed");
    expect(valuesOf(list)).toEqual(["first"]);
    draft.keep();
    expect(valuesOf(list)).toEqual(["changed", "second"]);
  });
});
