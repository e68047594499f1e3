/** GROUPED_CONV_2D, a product for each group. */
import { imageOutput, prepareImage } from "./convolution.ts";
import type { LoweringTable } from "./lowering.ts";
import { refuse } from "./refusal.ts";
import { addWindows, mostProducts } from "./windows.ts";

const once = { dilationWidth: 1, dilationHeight: 1 } as const;

/** The lowerings. */
export const grouped: LoweringTable = {
  GROUPED_CONV_2D({ input, filter, bias, groups, activation, nchw, ...sliding }, { output }, builder) {
    if (groups > mostProducts) refuse(`${groups} groups make more code than there may be`);
    const { image, padding } = prepareImage(builder, input, { ...sliding, ...once }, nchw);
    const { target, finish } = imageOutput(builder, output, nchw);
    const convolved = { input, filter, bias, output, activation, groups };
    addWindows(builder, "GROUPED_CONV_2D", convolved, image, { ...sliding, ...once, ...padding }, target);
    return finish();
  },
};
