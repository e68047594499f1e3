/**
 * Networks of MediaPipe's operators: one that is made here, of an encoder and a decoder, and MediaPipe's own for hair and selfies, with the
 * outputs of TensorFlow Lite. Those are not part of the repository: NNHAL_FOUND_FAULTS names their folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "@nnhal/network";
import { foundFaultsFolder } from "@nnhal/test-kit/folders";
import { expect, test } from "vitest";
import { fileOf, numbers, runFile, struct } from "./_run.test-helper.ts";
import { mediapipe } from "./index.ts";

test("an encoder and a decoder: indices of the one place elements of the other", async () => {
  const pooling = struct(1, 2, 2, 2, 2, 0);
  const [filter, bias] = [numbers(2 * 2 * 2 * 1, 1), [0.5, -1]];
  const file = fileOf(
    {
      x: { shape: [1, 8, 8, 1] },
      pooled: { shape: [1, 4, 4, 1] },
      indices: { shape: [1, 4, 4, 1] },
      unpooled: { shape: [1, 8, 8, 1] },
      filter: { shape: [2, 2, 2, 1], data: filter },
      bias: { shape: [2], data: bias },
      y: { shape: [1, 16, 16, 2] },
    },
    [
      { customCode: "MaxPoolingWithArgmax2D", options: pooling, inputs: ["x"], outputs: ["pooled", "indices"] },
      { customCode: "MaxUnpooling2D", options: pooling, inputs: ["pooled", "indices"], outputs: ["unpooled"] },
      {
        customCode: "Convolution2DTransposeBias",
        options: struct(1, 2, 2),
        inputs: ["unpooled", "filter", "bias"],
        outputs: ["y"],
      },
    ],
    ["y"],
  );
  const x = numbers(64, 9);
  // Of each 2 by 2 elements the greatest stays, the first of equals; then each becomes 2 by 2 elements of two channels.
  const kept = x.map((value, at) => {
    const corner = (at & ~9) | 0;
    const window = [corner, corner + 1, corner + 8, corner + 9];
    const most = Math.max(...window.map((place) => x[place] ?? 0));
    return window.find((place) => x[place] === most) === at ? value : 0;
  });
  const wanted = Array.from({ length: 16 * 16 * 2 }, (_, at) => {
    const [channel, column, row] = [at % 2, (at >> 1) % 16, at >> 5];
    const value = kept[(row >> 1) * 8 + (column >> 1)] ?? 0;
    return value * (filter[channel * 4 + (row % 2) * 2 + (column % 2)] ?? 0) + (bias[channel] ?? 0);
  });
  const { y } = await runFile(file, { x });
  expect(y?.shape).toEqual([1, 16, 16, 2]);
  expect(Array.from(y?.data ?? [])).toEqual(wanted);
});

const folder = join(foundFaultsFolder, "mediapipe-custom-ops");
const floats = (name: string) => new Float32Array(new Uint8Array(readFileSync(join(folder, name))).buffer);

if (!existsSync(folder))
  test(`no networks in ${folder}: set NNHAL_FOUND_FAULTS`, () => expect(existsSync(folder)).toBe(false));
else
  test.each(["hair", "selfie"])(
    "%s segmentation has the result of TensorFlow Lite",
    { timeout: 60_000 },
    async (kind) => {
      const file = `mediapipe__${kind}_segmentation.tflite`;
      const model = await load(join(folder, file), { devices: "reference", extensions: [mediapipe] });
      const [input, output] = [model.inputs[0]?.name ?? "", model.outputs[0]?.name ?? ""];
      const results = await model.run({ [input]: floats(`${file}.in0.bin`) });
      model.close();
      const [actual, wanted] = [results[output]?.data ?? [], floats(`${file}.out0.bin`)];
      expect(actual).toHaveLength(wanted.length);
      const [largest, furthest] = [0, 1].map((which) =>
        wanted.reduce(
          (most, value, at) => Math.max(most, Math.abs(which === 0 ? value : value - Number(actual[at]))),
          0,
        ),
      );
      expect(furthest).toBeLessThan(1e-5 * Math.max(1, largest ?? 0));
    },
  );
