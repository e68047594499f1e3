import type { TensorInfo } from "@nnhal/operations";
import { extensionTypes } from "@nnhal/operations/authoring";
import { expect, it } from "vitest";
import type { KernelEngine } from "./kernel.ts";
import { createPlaces } from "./places.ts";

const { TENSOR } = extensionTypes("com.example.test", { TENSOR: { code: 0, kind: "tensor", array: BigInt64Array } });

it("a value that is written to a place has all facts of its operand", () => {
  const uploaded: TensorInfo[] = [];
  const engine: Pick<KernelEngine<object>, "upload" | "release"> = {
    upload(info) {
      uploaded.push(info);
      return {};
    },
    release() {},
  };
  // Places use no other members of an engine to write.
  const places = createPlaces({ engine: engine as KernelEngine<object>, used: 0 });
  const params = { scale: 0.5 };
  const channelQuant = { scales: [1, 2], channelDim: 0 };
  const wide = { type: TENSOR, dimensions: [0], scale: 0, zeroPoint: 0, params };
  places.allocate(wide).write(new Uint8Array(16), [2]);
  const perChannel = {
    ...({ type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: [2], scale: 0, zeroPoint: 0 } as const),
    channelQuant,
  };
  places.allocate(perChannel).write(new Uint8Array(2), [2]);
  expect(uploaded).toEqual([{ ...wide, dimensions: [2] }, perChannel]);
});
