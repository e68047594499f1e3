/** Spoils plausible arguments: one of them becomes a value that a careless or hostile model might hold. */

import type { Param } from "@nnhal/operations";
import { elementAt } from "@nnhal/operations";
import type { Random } from "./random.ts";
import { isWantedTensor, type Wanted, type WantedArguments, type WantedTensor } from "./wanted.ts";

const INT32_MAX = 0x7fff_ffff;
const INT32_MIN = -0x8000_0000;
const hostileIntegers = [INT32_MIN, -65536, -3, -1, 0, 1, 2, 4, 5, 7, 31, 33, 1000, 65536, INT32_MAX];
const hostileFloats = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  -0,
  0,
  2 ** -149,
  1e-6,
  1e6,
  3e38,
];
const hostileScales = [2 ** -126, 1e-6, 1000, 2 ** 120];

/** The arguments with one of them changed, or one extent of all of them. */
export function spoil(args: WantedArguments, params: readonly Param[], random: Random): WantedArguments {
  if (random.chance(0.2)) return spoilExtent(args, random);
  const param = random.pick(params);
  return { ...args, [param.name]: spoilOne(args[param.name], param, random) };
}

/** Matching extents still match: all occurrences of an extent become the same other one. */
function spoilExtent(args: WantedArguments, random: Random): WantedArguments {
  const old = random.integer(0, 5);
  const spoilt = random.pick([0, 0, 1, 6, 17, INT32_MAX]);
  const replace = (wanted: WantedTensor): WantedTensor => ({
    ...wanted,
    dimensions: wanted.dimensions.map((extent) => (extent === old ? spoilt : extent)),
  });
  const entries = Object.entries(args).map(([name, wanted]): [string, Wanted] => {
    if (typeof wanted !== "object") return [name, wanted];
    return [name, isWantedTensor(wanted) ? replace(wanted) : wanted.map(replace)];
  });
  return Object.fromEntries(entries);
}

function spoilOne(wanted: Wanted, param: Param, random: Random): Wanted {
  if (param.omittable && random.chance(0.5)) return wanted === undefined ? someTensor(random) : undefined;
  if (param.kind === "boolean") return !wanted;
  if (param.kind === "number") return random.pick(param.type === "INT32" ? hostileIntegers : hostileFloats);
  if (wanted === undefined || typeof wanted !== "object") return someTensor(random);
  return isWantedTensor(wanted) ? spoilTensor(wanted, random) : wanted.map((one) => spoilTensor(one, random));
}

function someTensor(random: Random): WantedTensor {
  return { dimensions: Array.from({ length: random.integer(1, 4) }, () => random.integer(0, 3)) };
}

function spoilTensor(wanted: WantedTensor, random: Random): WantedTensor {
  const { values, reals, ...shapely } = wanted;
  const dimensions = [...wanted.dimensions];
  const axis = random.integer(0, dimensions.length - 1);
  switch (random.integer(0, 7)) {
    case 0:
      dimensions[axis] = elementAt(dimensions, axis) + 1;
      return { ...wanted, dimensions };
    case 1:
      dimensions[axis] = Math.max(0, elementAt(dimensions, axis) - 1);
      return { ...wanted, dimensions };
    case 2:
      // No elements, however great another extent is.
      dimensions[axis] = INT32_MAX;
      dimensions[(axis + 1) % dimensions.length] = 0;
      return { ...wanted, dimensions };
    case 3:
      return { ...wanted, dimensions: [...dimensions, random.integer(1, 2)] };
    case 4:
      return { ...wanted, dimensions: dimensions.slice(0, Math.max(1, dimensions.length - 1)) };
    case 5:
      return { ...wanted, scale: random.pick(hostileScales) };
    case 6:
      if (values !== undefined) return { ...wanted, values: values.map(() => random.pick(hostileIntegers)) };
      if (reals !== undefined) return { ...wanted, reals: reals.map(() => random.pick(hostileFloats)) };
      return wanted;
    default: {
      if (values === undefined) return shapely;
      const spoilt = [...values];
      spoilt[random.integer(0, Math.max(0, values.length - 1))] = random.pick(hostileIntegers);
      return { ...wanted, values: spoilt };
    }
  }
}
