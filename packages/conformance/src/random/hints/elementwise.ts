/**
 * Plausible operands of operations that work element by element, and of those with a rule or two of their own.
 */
import type { Draw, Plausible } from "../wanted.ts";

/** Two shapes that broadcast: extents of either may be 1, and leading ones may be missing. */
function broadcast(draw: Draw): [number[], number[]] {
  const whole = draw.shape();
  const part = () => {
    const shape = whole.map((extent) => (draw.chance(0.2) ? 1 : extent));
    return draw.chance(0.2) ? shape.slice(draw.integer(0, shape.length - 1)) : shape;
  };
  return draw.chance(0.5) ? [whole, part()] : [part(), whole];
}

function pair(left: string, right: string): Plausible {
  return (draw) => {
    const [a, b] = broadcast(draw);
    return { [left]: { dimensions: a }, [right]: { dimensions: b } };
  };
}

/** Integers have no fused activation. */
const arithmetic: Plausible = (draw) => {
  const isInteger = draw.typeOf("left") === "TENSOR_INT32";
  return { ...pair("left", "right")(draw), ...(isInteger && { activation: 0 }) };
};

/** The product of two scales is less than the output's, which is at most 3. */
const multiplication: Plausible = (draw) => {
  const [a, b] = broadcast(draw);
  const scale = 1 / 256;
  const isInteger = draw.typeOf("left") === "TENSOR_INT32";
  return {
    left: { dimensions: a, scale },
    right: { dimensions: b, scale },
    ...(isInteger && { activation: 0 }),
  };
};

export const elementwiseHints: Readonly<Record<string, Plausible>> = {
  ADD: arithmetic,
  SUB: arithmetic,
  DIV: arithmetic,
  MUL: multiplication,
  POW: pair("base", "exponent"),
  PRELU: pair("input", "alpha"),
  MAXIMUM: pair("left", "right"),
  MINIMUM: pair("left", "right"),
  EQUAL: pair("left", "right"),
  NOT_EQUAL: pair("left", "right"),
  LESS: pair("left", "right"),
  LESS_EQUAL: pair("left", "right"),
  GREATER: pair("left", "right"),
  GREATER_EQUAL: pair("left", "right"),
  LOGICAL_AND: pair("left", "right"),
  LOGICAL_OR: pair("left", "right"),
  LOCAL_RESPONSE_NORMALIZATION: (draw) => ({ radius: draw.integer(0, 3) }),
  RANDOM_MULTINOMIAL: (draw) => ({
    input: { dimensions: [draw.extent(), draw.integer(1, 5)] },
    samples: draw.integer(0, 5),
    seeds: { dimensions: [2] },
  }),
};
