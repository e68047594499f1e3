/** Results that are quantised in another way than the input, of operators that keep elements as they are stored. */
import type { Lowering } from "../lowering.ts";
import { isQuantised } from "../operand-types.ts";

/** True if the result is quantised, in another way than the input. */
export function isRequantised(op: Lowering): boolean {
  const [input, output] = [op.inputSpec(0), op.outputSpec()];
  return isQuantised(output.type) && (input.scale !== output.scale || input.zeroPoint !== output.zeroPoint);
}
