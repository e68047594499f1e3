/** The row of BATCH_MATMUL. */
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import type { Row } from "../row.ts";

/** The types of which the HAL's products are those of TensorFlow Lite; it rounds those of bytes in another way. */
const types: readonly unknown[] = ["TENSOR_FLOAT32", "TENSOR_INT32"];

const batchMatmul: Row = {
  operator: "BATCH_MATMUL",
  version: 4,
  operations: ["BATCH_MATMUL"],
  note: "FLOAT32 and INT32 with equal batches since AIDL 2; else of the extension.",
  lower(op: Lowering) {
    op.ensure(op.halVersion >= "aidl2", () => "the HAL has BATCH_MATMUL since AIDL 2 only");
    const [x, y] = [op.inputSpec(0), op.inputSpec(1)];
    op.ensure(types.includes(x.type) && y.type === x.type, () => "the HAL's products are rounded in another way");
    const [left, right] = [x, y].map(({ dimensions }) => dimensions.slice(0, -2));
    const isEqual = left?.join() === right?.join() && left?.includes(0) === false;
    op.ensure(isEqual, () => `the HAL needs equal batches, got ${listText(left ?? [])} and ${listText(right ?? [])}`);
    const flags = ["adjX", "adjY"].map((name) => op.bool(op.flag(name)));
    op.emit("BATCH_MATMUL", [op.input(0), op.input(1), ...flags], [op.output()]);
  },
};

export const matrixRows: readonly Row[] = [batchMatmul];
