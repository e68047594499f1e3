import { expect, test } from "vitest";
import { importLines, oneOperator, problemOf } from "../../_model.test-helper.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const least = -(2 ** 31);

test.each([least, 2 ** 31 - 1])("an option of 32 bits may be %d", (ngramSize) => {
  const string = { type: "STRING", shape: [1] } as const;
  const options = { ngramSize, maxSkipSize: 0, includeAllNgrams: false };
  expect(importLines(oneOperator("SKIP_GRAM", { x: string }, { y: string }, options))[0]).toContain(
    `, ${ngramSize}, 0, 0`,
  );
});

test("an option of the HAL's operation may be the least integer", () => {
  const int = (value: number) => ({ type: "INT32", shape: [1], data: [value] }) as const;
  const model = oneOperator(
    "STRIDED_SLICE",
    { x: f, begin: int(0), end: int(2), strides: int(1) },
    { y: f },
    { beginMask: least },
  );
  expect(importLines(model)[0]).toContain(`, ${least}, 0, 0`);
});

test("an option outside of 32 bits is refused", () => {
  const model = oneOperator(
    "DEPTH_TO_SPACE",
    { x: { shape: [1, 1, 1, 4] } },
    { y: { shape: [1, 2, 2, 1] } },
    { blockSize: 2 ** 31 },
  );
  expect(problemOf(model)).toContain("2147483648 is not a 32-bit integer");
});
