/**
 * Floats of 16 bits. Inside a network they are floats of 32, which hold them exactly; they become 16 bits again where they leave it. The HAL lets devices compute
 * them with more digits.
 */
import type { KernelTensor } from "@nnhal/backend";
import type { TensorInfo } from "@nnhal/operations";
import { convert, type Expression, makeInteger, on, real, select, shiftBits } from "./expression.ts";

/** The float32 of the bits of a float16. */
export function fromHalf(bits: Expression): Expression {
  const sign = shiftBits("shl", on("and", bits, makeInteger(0x8000)), 16);
  const size = shiftBits("shl", on("and", bits, makeInteger(0x7fff)), 13);
  const moved = on("add", size, makeInteger((127 - 15) << 23));
  // Infinity and NaN have the greatest exponent, which is another one here. Numbers without a leading 1 are exact differences.
  const isSpecial = on("ge", size, makeInteger(0x7c00 << 13));
  const special = on("add", moved, makeInteger((128 - 16) << 23));
  const small = on(
    "sub",
    convert("fromBits", on("add", moved, makeInteger(1 << 23))),
    convert("fromBits", makeInteger(113 << 23)),
  );
  const isSmall = on("lt", size, makeInteger(0x400 << 13));
  const result = select(isSmall, convert("bits", small), select(isSpecial, special, moved));
  return convert("fromBits", on("or", result, sign));
}

/** The bits of the float16 that is nearest to a float32, halves to the even one. */
export function toHalf(value: Expression): Expression {
  const bits = convert("bits", value);
  const sign = on("and", shiftBits("shr", bits, 16), makeInteger(0x8000));
  const size = on("and", bits, makeInteger(0x7fff_ffff));
  const odd = on("and", shiftBits("shr", size, 13), makeInteger(1));
  const normal = shiftBits("shr", on("add", on("add", size, makeInteger(((15 - 127) << 23) + 0xfff)), odd), 13);
  // Near 1/2 floats are as far apart as the least numbers of 16 bits.
  const small = on("sub", convert("bits", on("add", convert("fromBits", size), real(0.5))), makeInteger(0x3f00_0000));
  const special = select(on("gt", size, makeInteger(0x7f80_0000)), makeInteger(0x7e00), makeInteger(0x7c00));
  const result = select(
    on("lt", size, makeInteger(113 << 23)),
    small,
    select(on("ge", size, makeInteger(0x4780_0000)), special, normal),
  );
  return on("or", result, sign);
}

/** The same facts with floats of 32 bits in the place of those of 16. */
export function widenInfo<Info extends TensorInfo>(info: Info): Info {
  return info.type === "TENSOR_FLOAT16" ? { ...info, type: "TENSOR_FLOAT32" } : info;
}

/** An argument of an operation, of which tensors are `widened`. */
export function widenedArgument(argument: unknown): unknown {
  if (Array.isArray(argument)) return argument.map(widenedArgument);
  return isTensor(argument) ? widenInfo(argument) : argument;
}

function isTensor(argument: unknown): argument is KernelTensor {
  return typeof argument === "object" && argument !== null && "dimensions" in argument && "index" in argument;
}
