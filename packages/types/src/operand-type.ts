/**
 * Operand types: scalars, tensors, SUBGRAPH and the two OEM types (HAL types.hal, OperandType). Codes above
 * `OperandTypeRange.BASE_MAX` belong to vendor extensions.
 */
import { codesOf, type EnumRow, namesOf } from "./table.ts";

/** Properties of an operand type. */
export interface OperandTypeRow extends EnumRow {
  /** A scalar and a SUBGRAPH have rank 0; a tensor has any rank (below HAL 1.2 at least 1). */
  readonly kind: "scalar" | "tensor" | "subgraph";
  /** Size of one element in bytes; 0 if the HAL defines none (SUBGRAPH and the OEM scalar). */
  readonly elementSize: number;
  /**
   * The quantisation an operand of this type carries. `none`: scale and zeroPoint are 0. `bias`: scale ≥ 0,
   * zeroPoint 0 (TENSOR_INT32). `asymmetric`: scale > 0, zeroPoint within `zeroPointRange`. `symmetric`: scale > 0,
   * zeroPoint 0. `perChannel`: scales in `extraParams.channelQuant`, scale and zeroPoint 0.
   */
  readonly quantisation: "none" | "bias" | "asymmetric" | "symmetric" | "perChannel";
  /** Least and greatest zeroPoint, where `quantisation` is `asymmetric`. */
  readonly zeroPointRange?: readonly [least: number, greatest: number];
}

export const operandTypes = {
  /** A 32-bit IEEE float. */
  FLOAT32: { code: 0, since: "1.0", kind: "scalar", elementSize: 4, quantisation: "none" },
  /** A signed 32-bit integer. */
  INT32: { code: 1, since: "1.0", kind: "scalar", elementSize: 4, quantisation: "none" },
  /** An unsigned 32-bit integer. */
  UINT32: { code: 2, since: "1.0", kind: "scalar", elementSize: 4, quantisation: "none" },
  /** A tensor of 32-bit IEEE floats. */
  TENSOR_FLOAT32: { code: 3, since: "1.0", kind: "tensor", elementSize: 4, quantisation: "none" },
  /** A tensor of signed 32-bit integers. As a bias it has a scale: real value = element * scale. */
  TENSOR_INT32: { code: 4, since: "1.0", kind: "tensor", elementSize: 4, quantisation: "bias" },
  /** A tensor of unsigned bytes; real value = (element - zeroPoint) * scale. */
  TENSOR_QUANT8_ASYMM: {
    code: 5,
    since: "1.0",
    kind: "tensor",
    elementSize: 1,
    quantisation: "asymmetric",
    zeroPointRange: [0, 255],
  },
  /** A byte: 0 is false, any other value true. */
  BOOL: { code: 6, since: "1.2", kind: "scalar", elementSize: 1, quantisation: "none" },
  /** A tensor of signed 16-bit integers; real value = element * scale. */
  TENSOR_QUANT16_SYMM: { code: 7, since: "1.2", kind: "tensor", elementSize: 2, quantisation: "symmetric" },
  /** A tensor of 16-bit IEEE floats. */
  TENSOR_FLOAT16: { code: 8, since: "1.2", kind: "tensor", elementSize: 2, quantisation: "none" },
  /** A tensor of bytes: 0 is false, any other value true. */
  TENSOR_BOOL8: { code: 9, since: "1.2", kind: "tensor", elementSize: 1, quantisation: "none" },
  /** A 16-bit IEEE float. */
  FLOAT16: { code: 10, since: "1.2", kind: "scalar", elementSize: 2, quantisation: "none" },
  /** A tensor of signed bytes with a scale per channel: real value[…, c, …] = element * scales[c]. */
  TENSOR_QUANT8_SYMM_PER_CHANNEL: {
    code: 11,
    since: "1.2",
    kind: "tensor",
    elementSize: 1,
    quantisation: "perChannel",
  },
  /** A tensor of unsigned 16-bit integers; real value = (element - zeroPoint) * scale. */
  TENSOR_QUANT16_ASYMM: {
    code: 12,
    since: "1.2",
    kind: "tensor",
    elementSize: 2,
    quantisation: "asymmetric",
    zeroPointRange: [0, 65535],
  },
  /** A tensor of signed bytes; real value = element * scale. */
  TENSOR_QUANT8_SYMM: { code: 13, since: "1.2", kind: "tensor", elementSize: 1, quantisation: "symmetric" },
  /** A tensor of signed bytes; real value = (element - zeroPoint) * scale. */
  TENSOR_QUANT8_ASYMM_SIGNED: {
    code: 14,
    since: "1.3",
    kind: "tensor",
    elementSize: 1,
    quantisation: "asymmetric",
    zeroPointRange: [-128, 127],
  },
  /** A reference to a subgraph of the model; lifetime SUBGRAPH, `location.offset` is its index. */
  SUBGRAPH: { code: 15, since: "1.3", kind: "subgraph", elementSize: 0, quantisation: "none" },
  /** OEM specific scalar. Deprecated since 1.2 in favour of extensions. */
  OEM: { code: 10000, since: "1.0", kind: "scalar", elementSize: 0, quantisation: "none" },
  /** A tensor of OEM specific bytes. Deprecated since 1.2 in favour of extensions. */
  TENSOR_OEM_BYTE: { code: 10001, since: "1.0", kind: "tensor", elementSize: 1, quantisation: "none" },
} as const satisfies Readonly<Record<string, OperandTypeRow>>;

/** The HAL's own names of the operand types. */
export type OperandTypeName = keyof typeof operandTypes;

/** Operand type codes by name. */
export const OperandType = codesOf(operandTypes);

/** Operand type names by code; extension codes are not in it. */
export const operandTypeNames = namesOf(operandTypes);

/** Bounds of the ranges of operand type codes (HAL OperandTypeRange). */
export const OperandTypeRange = {
  BASE_MIN: 0,
  FUNDAMENTAL_MIN: 0,
  /** The greatest fundamental code by HAL version; 1.1 shares 1.0's operand types. AIDL has no ranges. */
  FUNDAMENTAL_MAX: { "1.0": 5, "1.1": 5, "1.2": 13, "1.3": 15 },
  OEM_MIN: 10000,
  OEM_MAX: 10001,
  /** Greater codes belong to extensions. */
  BASE_MAX: 0xffff,
} as const;
