/**
 * Plausible operands of operations that work element by element, and of those with a rule or two of their own.
 */
import type { Draw, Plausible } from "../wanted.ts";

/** Two shapes that broadcast: extents of either may be 1, and leading ones may be missing. */
export function broadcast(draw: Pick<Draw, "shape" | "chance" | "integer">): [number[], number[]] {
  const whole = draw.shape();
  const part = () => {
    const shape = whole.map((extent) => (draw.chance(0.2) ? 1 : extent));
    return draw.chance(0.2) ? shape.slice(draw.integer(0, shape.length - 1)) : shape;
  };
  return draw.chance(0.5) ? [whole, part()] : [part(), whole];
}

/** Integers have no fused activation. */
const arithmetic: Plausible = (draw) => (draw.typeOf("left") === "TENSOR_INT32" ? { activation: 0 } : {});

/** The product of two scales is less than the output's, which is at most 3. */
const multiplication: Plausible = (draw) => {
  const [a, b] = broadcast(draw);
  const scale = 1 / 256;
  return { left: { dimensions: a, scale }, right: { dimensions: b, scale }, ...arithmetic(draw) };
};

export const elementwiseHints: Readonly<Record<string, Plausible>> = {
  ADD: arithmetic,
  SUB: arithmetic,
  DIV: arithmetic,
  MUL: multiplication,
  LOCAL_RESPONSE_NORMALIZATION: (draw) => ({ radius: draw.integer(0, 3) }),
  RANDOM_MULTINOMIAL: (draw) => ({
    input: { dimensions: [draw.extent(), draw.integer(1, 5)] },
    samples: draw.integer(0, 5),
    seeds: { dimensions: [2] },
  }),
};
