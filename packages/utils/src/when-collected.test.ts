import { collectAll, collectUntil } from "@nnhal/test-kit/garbage";
import { describe, expect, it } from "vitest";
import { whenCollected } from "./when-collected.ts";

describe("whenCollected", () => {
  it("releases what an object holds once nothing references the object", async () => {
    const released: string[] = [];
    const release = (held: string) => released.push(held);
    const kept = {};
    whenCollected({}, "of the lost one", release);
    whenCollected(kept, "of the kept one", release);
    await collectUntil(() => released.length > 0);
    expect(released).toEqual(["of the lost one"]);
    expect(kept).toEqual({});
  });

  it("releases nothing after it is cancelled, and keeps nothing", async () => {
    const released: object[] = [];
    const owner = {};
    const cancelFor = (ofWhom: object) => {
      const held = { bytes: new Uint8Array(8) };
      whenCollected(ofWhom, held, (one) => released.push(one))();
      return new WeakRef(held);
    };
    const held = [cancelFor(owner), cancelFor({})];
    await collectUntil(() => held.every((one) => one.deref() === undefined));
    await collectAll();
    expect(held.map((one) => one.deref())).toEqual([undefined, undefined]);
    expect(released).toEqual([]);
    expect(owner).toEqual({});
  });
});
