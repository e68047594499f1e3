/** Packs of examples hold the examples' content. */
import { type Example, extremeConvolutions } from "@nnhal/conformance";
import { describe, expect, it } from "vitest";
import { withImages } from "./images.ts";
import { runConvolutions } from "./inside/convolutions.ts";
import { differenceOf } from "./inside/difference.ts";
import { packExamples } from "./packs.ts";
import { evenly } from "./prepare.ts";
import { openedReference } from "./reference.test-helper.ts";

const examples = [...extremeConvolutions({ count: 7 })];

/** With the result of the first operation of each pack wrong. */
function spoilt(pack: Example): Example {
  const [output] = pack.main.outputIndexes;
  const operands = pack.main.operands.map((operand, index) =>
    index === output && operand.data !== null ? { ...operand, data: operand.data.map((byte) => byte ^ 0x40) } : operand,
  );
  return { ...pack, main: { ...pack.main, operands } };
}

const alone = (example: Example) => ({ example, images: [] });
const isOutput = ({ main }: Example, index: number) => main.outputIndexes.includes(index);

describe("packed convolutions", () => {
  const packs = packExamples(examples, 3);

  it("are all there", () => {
    expect(packs.map(({ main }) => main.operations.length)).toEqual([3, 3, 1]);
    expect(packs.map(({ name }) => name).join(" ")).toBe(examples.map(({ name }) => name).join(" "));
  });

  it("are right on the reference, and each wrong one counts alone", async () => {
    const device = await openedReference();
    expect(await runConvolutions(device, packs.map(alone))).toEqual({ passed: 7, failed: 0, skipped: 0, problems: [] });
    const { problems, ...counts } = await runConvolutions(device, packs.map(spoilt).map(alone));
    expect(counts).toEqual({ passed: 4, failed: 3, skipped: 0 });
    expect(problems).toHaveLength(3);
    expect(problems[0]).toMatch(/^convolutions\/1\.0 \w+ of TENSOR_\w+ \[.*elements are off, by up to 64$/);
  });

  it("that a device refuses are left out, and the others of the pack run", async () => {
    const device = await openedReference(({ definition }) => (definition.name === "CONV_2D" ? "refused" : undefined));
    const refused = examples.filter(({ main }) => main.operations[0]?.type === "CONV_2D").length;
    expect(refused).toBeGreaterThan(0);
    const { problems, ...counts } = await runConvolutions(device, packs.map(alone));
    expect(counts).toEqual({ passed: 7 - refused, failed: 0, skipped: refused });
    expect(problems).toEqual([]);
  });

  it("compute several images, each of which counts", async () => {
    const device = await openedReference();
    const made = await Promise.all(packs.map((pack) => withImages(pack, 4, device)));
    const run = (images: number, given = made) => runConvolutions(device, given, images);
    expect(await run(4)).toEqual({ passed: 28, failed: 0, skipped: 0, problems: [] });
    expect(await run(2)).toMatchObject({ passed: 14, failed: 0 });
    expect(await run(9)).toMatchObject({ passed: 28 });
    // The results of the second image as those of the third one.
    const mixed = made.map(({ example, images }) => ({
      example,
      images: images.map((values, place) =>
        place === 0
          ? new Map(
              [...values].map(([index, value]) => [
                index,
                (isOutput(example, index) && images[1]?.get(index)) || value,
              ]),
            )
          : values,
      ),
    }));
    const { passed, failed } = await run(4, mixed);
    expect(passed + failed).toBe(28);
    expect(failed).toBeGreaterThan(3);
  });

  it("of several images whose operation a device refuses are counted for each image", async () => {
    const right = await openedReference();
    const made = await Promise.all(packs.map((pack) => withImages(pack, 3, right)));
    const device = await openedReference(({ definition }) => (definition.name === "CONV_2D" ? "refused" : undefined));
    const refused = examples.filter(({ main }) => main.operations[0]?.type === "CONV_2D").length;
    expect(await runConvolutions(device, made, 3)).toMatchObject({
      passed: 3 * (7 - refused),
      failed: 0,
      skipped: 3 * refused,
    });
  });

  it("cannot have subgraphs", () => {
    const [first] = examples;
    if (first === undefined) throw new Error("no examples");
    expect(() => packExamples([{ ...first, referenced: [first.main] }], 2)).toThrow(
      "has subgraphs: it cannot be packed",
    );
  });
});

describe("a difference", () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  it.each([
    ["none", bytes(5), bytes(5), false, undefined],
    ["one step", bytes(5), bytes(6), false, undefined],
    ["two steps", bytes(5, 5), bytes(7, 5), false, "1 of 2 elements are off, by up to 2"],
    ["one step over 0 of signed bytes", bytes(0), bytes(255), true, undefined],
    ["255 steps of unsigned bytes", bytes(0), bytes(255), false, "1 of 1 elements are off, by up to 255"],
    ["other lengths", bytes(0), bytes(), false, "expected 0 bytes, got 1"],
  ])("of %s", (_, actual, expected, isSigned, problem) => {
    expect(differenceOf(actual, expected, isSigned)).toBe(problem);
  });
});

it.each([
  [0, 0],
  [3, 3],
  [10, 10],
  [11, 10],
])("%i of a list of 10 are %i, evenly taken", (count, length) => {
  const list = Array.from({ length: 10 }, (_, place) => place);
  const taken = evenly(list, count);
  expect(new Set(taken).size).toBe(length);
  if (count === 3) expect(taken).toEqual([0, 3, 6]);
});
