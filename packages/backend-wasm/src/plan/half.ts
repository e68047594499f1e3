/**
 * Floats of 16 bits. Inside a network they are floats of 32, which hold them exactly; they become 16 bits again where they leave it. The HAL lets devices compute
 * them with more digits.
 */
import type { KernelTensor } from "@nnhal/backend";
import type { TensorInfo } from "@nnhal/operations";
import { converted, type Expression, on, real, select, shifted, whole } from "./expression.ts";

/** The float32 of the bits of a float16. */
export function fromHalf(bits: Expression): Expression {
  const sign = shifted("shl", on("and", bits, whole(0x8000)), 16);
  const size = shifted("shl", on("and", bits, whole(0x7fff)), 13);
  const moved = on("add", size, whole((127 - 15) << 23));
  // Infinity and NaN have the greatest exponent, which is another one here. Numbers without a leading 1 are exact differences.
  const isSpecial = on("ge", size, whole(0x7c00 << 13));
  const special = on("add", moved, whole((128 - 16) << 23));
  const small = on(
    "sub",
    converted("fromBits", on("add", moved, whole(1 << 23))),
    converted("fromBits", whole(113 << 23)),
  );
  const isSmall = on("lt", size, whole(0x400 << 13));
  const result = select(isSmall, converted("bits", small), select(isSpecial, special, moved));
  return converted("fromBits", on("or", result, sign));
}

/** The bits of the float16 that is nearest to a float32, halves to the even one. */
export function toHalf(value: Expression): Expression {
  const bits = converted("bits", value);
  const sign = on("and", shifted("shr", bits, 16), whole(0x8000));
  const size = on("and", bits, whole(0x7fff_ffff));
  const odd = on("and", shifted("shr", size, 13), whole(1));
  const normal = shifted("shr", on("add", on("add", size, whole(((15 - 127) << 23) + 0xfff)), odd), 13);
  // Near 1/2 floats are as far apart as the least numbers of 16 bits.
  const small = on("sub", converted("bits", on("add", converted("fromBits", size), real(0.5))), whole(0x3f00_0000));
  const special = select(on("gt", size, whole(0x7f80_0000)), whole(0x7e00), whole(0x7c00));
  const result = select(
    on("lt", size, whole(113 << 23)),
    small,
    select(on("ge", size, whole(0x4780_0000)), special, normal),
  );
  return on("or", result, sign);
}

/** The same facts with floats of 32 bits in the place of those of 16. */
export function widened<Info extends TensorInfo>(info: Info): Info {
  return info.type === "TENSOR_FLOAT16" ? { ...info, type: "TENSOR_FLOAT32" } : info;
}

/** An argument of an operation, of which tensors are `widened`. */
export function widenedArgument(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(widenedArgument);
  return isTensor(argument) ? widened(argument) : argument;
}

function isTensor(argument: unknown): argument is KernelTensor {
  return typeof argument === "object" && argument !== null && "dimensions" in argument && "index" in argument;
}
