/**
 * Conversions to HAL 1.1 from any version. One that loses something says so, and converts all the same. Operands,
 * requests, lifetimes and statuses are those of HAL 1.0.
 */
import type { V1_1 } from "@nnhal/types";
import type { AnyCapabilities, AnyModel, AnyOperand, AnyRequest } from "./any.ts";
