/** Values of any HAL version. The fields of a value show its version. */
import type { Capabilities, Model, Operand, Request, V1_0, V1_1, V1_2 } from "@nnhal/types";

export type AnyCapabilities = V1_0.Capabilities | V1_1.Capabilities | V1_2.Capabilities | Capabilities;
export type AnyModel = V1_0.Model | V1_1.Model | V1_2.Model | Model;
/** One without `extraParams` is of HAL 1.0 or 1.1. */
export type AnyOperand = V1_0.Operand | Operand;
/** One whose pools are memories is of HAL 1.0 – 1.2. */
export type AnyRequest = V1_0.Request | Request;
