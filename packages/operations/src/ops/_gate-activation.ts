/**
 * Activations of LSTM cells. Their codes are not those of FusedActivationFunc: 0 none, 1 RELU, 3 RELU6, 4 TANH, 6 SIGMOID.
 */
import { OperationError } from "../fail.ts";

/** 1 / (1 + exp(-x)) */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** The function of an activation code. */
export function cellActivation(code: number): (x: number) => number {
  switch (code) {
    case 0:
      return (x) => x;
    case 1:
      return (x) => Math.max(0, x);
    case 3:
      return (x) => Math.min(6, Math.max(0, x));
    case 4:
      return Math.tanh;
    case 6:
      return sigmoid;
    default:
      throw new OperationError(`activation ${code} is none of NONE 0, RELU 1, RELU6 3, TANH 4, SIGMOID 6`);
  }
}
