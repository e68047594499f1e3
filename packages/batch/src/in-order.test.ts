/** Items that are sorted in memory, and in files. */
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { inOrder } from "./in-order.ts";

const parts = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`nnhal-order-`));

/** Yields names in a fixed disorder, each twice, with strings that lines of a file must keep whole. */
async function* items(count: number) {
  for (const round of ["first", "last"])
    for (let index = 0; index < count; index++) yield { name: `n\n${(index * 7) % count}`, round };
}

async function collect<Item>(all: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of all) list.push(item);
  return list;
}

describe.each([
  ["in memory", 1000],
  ["with as many as fit", 97],
  ["in files", 10],
  ["one in a file", 1],
])("items %s", (_, most) => {
  it("come in the order of their names, the last of each", async () => {
    const before = parts();
    const names = Array.from({ length: 97 }, (_, index) => `n\n${index}`).sort();
    const expected = names.map((name) => ({ name, round: "last" }));
    expect(await collect(inOrder(items(97), most))).toEqual(expected);
    expect(parts()).toEqual(before);
  });
});

it("nothing is left in files if the reader ends, or the source fails", async () => {
  const before = parts();
  for await (const { name } of inOrder(items(97), 10)) {
    expect(name).toBe("n\n0");
    break;
  }
  const makeFailing = async function* () {
    yield* items(97);
    throw new Error("the source has failed");
  };
  await expect(collect(inOrder(makeFailing(), 10))).rejects.toThrow("the source has failed");
  expect(parts()).toEqual(before);
});

it("no items are none", async () => {
  expect(await collect(inOrder(items(0), 1))).toEqual([]);
});
