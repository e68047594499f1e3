/**
 * The enums of the .tflite schema as lists of names; a name's place is its code.
 */

/** Element types of tensors. */
export const tensorTypes = [
  "FLOAT32",
  "FLOAT16",
  "INT32",
  "UINT8",
  "INT64",
  "STRING",
  "BOOL",
  "INT16",
  "COMPLEX64",
  "INT8",
  "FLOAT64",
  "COMPLEX128",
  "UINT64",
  "RESOURCE",
  "VARIANT",
  "UINT32",
  "UINT16",
  "INT4",
  "BFLOAT16",
  "INT2",
  "UINT4",
  "FLOAT8_E4M3FN",
  "FLOAT8_E5M2",
] as const;

/** The name of an element type. */
export type TensorTypeName = (typeof tensorTypes)[number];

export const paddings = ["SAME", "VALID"] as const;
export const activations = ["NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"] as const;
export const lshProjectionTypes = ["UNKNOWN", "SPARSE", "DENSE"] as const;
export const weightsFormats = ["DEFAULT", "SHUFFLED4x16INT8"] as const;
export const lstmKernelTypes = ["FULL", "BASIC"] as const;
export const combiners = ["SUM", "MEAN", "SQRTN"] as const;
export const mirrorPadModes = ["REFLECT", "SYMMETRIC"] as const;
export const rngAlgorithms = ["DEFAULT", "PHILOX", "THREEFRY"] as const;
