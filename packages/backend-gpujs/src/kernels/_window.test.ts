import fc from "fast-check";
import { expect, it } from "vitest";
import { type Target, type Writer, writeStage } from "./_code.ts";
import { imageOf, placeOf } from "./_image.ts";
import { plainTarget, resultsOf } from "./_target.test-helper.ts";
import { walkWindow, where } from "./_window.ts";

const targets: readonly Target[] = [
  plainTarget,
  { ...plainTarget, unrolls: 25 },
  { ...plainTarget, floats: true },
  { ...plainTarget, floats: true, lanes: true, unrolls: 25 },
  { ...plainTarget, floats: true, grids: false },
];

const small = fc.integer({ min: 1, max: 3 });
const along = fc
  .record({
    extent: fc.integer({ min: 1, max: 6 }),
    cells: small,
    stride: small,
    dilation: fc.oneof(small, fc.constant(2 ** 31 - 255)),
    before: fc.nat(4),
    after: fc.nat(4),
    /** Padding that the window fits with, half of it before the image. */
    fits: fc.boolean(),
  })
  .map(({ fits, ...given }) => {
    const more = fits ? Math.max(0, given.dilation * (given.cells - 1) + 1 - given.extent) : 0;
    return { ...given, before: given.before + Math.floor(more / 2), after: given.after + Math.ceil(more / 2) };
  });

/** Returns the number of positions of a window along an axis. */
function outputsOf({ extent, cells, stride, dilation, before, after }: { [key: string]: number }): number {
  return Math.floor((extent + before + after - dilation * (cells - 1) - 1) / stride) + 1;
}

it("visits exactly the cells of the image under each window", () => {
  fc.assert(
    fc.property(
      along,
      along,
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom(...targets),
      (down, across, nchw, isDeep, target) => {
        const [rows, columns] = [outputsOf(down), outputsOf(across)];
        fc.pre(rows > 0 && columns > 0);
        const [batches, channels] = [2, 3];
        const shape = (height: number, width: number) =>
          nchw ? [batches, channels, height, width] : [batches, height, width, channels];
        const image = imageOf(shape(down.extent, across.extent), nchw);
        const window = {
          height: down.cells,
          width: across.cells,
          strideHeight: down.stride,
          strideWidth: across.stride,
          dilationHeight: down.dilation,
          dilationWidth: across.dilation,
          paddingTop: down.before,
          paddingBottom: down.after,
          paddingLeft: across.before,
          paddingRight: across.after,
          isDeep,
        };
        const dimensions = shape(rows, columns);
        const { program } = writeStage({ dimensions }, target, (writer: Writer) => {
          writer.line("const seen = [];");
          walkWindow(writer, image, window, placeOf(writer.at, nchw), (pixel, tap, inside) =>
            where(writer, inside, () => {
              writer.line(`seen.push(${pixel.code} + ${pixel.offset}, ${tap.code} + ${tap.offset});`);
            }),
          );
          return "seen";
        });
        // Indexes are int32 in WebAssembly and on GPUs.
        expect((program.body.match(/\d+/g) ?? []).filter((number) => Number(number) >= 2 ** 31)).toEqual([]);
        // OpenGL takes a negative number for a float.
        expect(program.body).not.toMatch(/[-+*] -/);
        const found = resultsOf(program);
        const expected = found.map((_, index) => {
          const inner = nchw
            ? [index % columns, Math.floor(index / columns) % rows, Math.floor(index / (columns * rows * channels))]
            : [
                Math.floor(index / channels) % columns,
                Math.floor(index / (channels * columns)) % rows,
                Math.floor(index / (channels * columns * rows)),
              ];
          const [column, row, batch] = inner;
          const seen: number[] = [];
          for (let ky = 0; ky < down.cells; ky++) {
            for (let kx = 0; kx < across.cells; kx++) {
              const iy = row * down.stride - down.before + ky * down.dilation;
              const ix = column * across.stride - across.before + kx * across.dilation;
              if (iy < 0 || iy >= down.extent || ix < 0 || ix >= across.extent) continue;
              seen.push(image.batchStep * batch + image.rowStep * iy + image.pixelStep * ix, across.cells * ky + kx);
            }
          }
          return seen;
        });
        expect(found).toEqual(expected);
      },
    ),
  );
});
