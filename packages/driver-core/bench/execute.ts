/**
 * Measures the overhead that a device adds to an execution: one ADD of one element on the reference backend, without and with a
 * deadline. Microseconds. The rounds alternate, and the median of their better half is reported, because other work on the
 * machine disturbs it least.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/driver-core/bench/execute.ts [ROUNDS]`.
 */
import { elementAt } from "@nnhal/operations";
import type { ExecuteOptions } from "@nnhal/types";
import { steadyClock } from "@nnhal/utils/time";
import { prepareAdd } from "../src/burst/add-model.test-helper.ts";
import { adder } from "../src/burst/raw-burst.test-helper.ts";

const rounds = Number(process.argv[2] ?? 40);
const executions = 5_000;

const { request, values } = adder();
const preparedModel = await prepareAdd();

const forms: readonly { readonly name: string; readonly options: () => ExecuteOptions | undefined }[] = [
  { name: "execute", options: () => undefined },
  { name: "execute with a deadline", options: () => ({ deadline: steadyClock() + 1_000_000_000n }) },
];

async function round(options: () => ExecuteOptions | undefined): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < executions; index++) {
    const { status, message } = await preparedModel.execute(request, options());
    if (status !== 0) throw new Error(`status ${status}: ${message}`);
  }
  return ((performance.now() - start) * 1000) / executions;
}

values.set([1, 2, 0]);
const times = forms.map((): number[] => []);
for (let index = -3; index < rounds; index++) {
  for (const [form, { options }] of forms.entries()) {
    const time = await round(options);
    if (index >= 0) elementAt(times, form).push(time);
  }
}
if (values[2] !== 3) throw new Error(`1 + 2 is ${values[2]}`);
for (const [form, { name }] of forms.entries()) {
  const sorted = elementAt(times, form).sort((a, b) => a - b);
  console.log(
    `${name.padEnd(24)} ${elementAt(sorted, Math.floor(sorted.length / 4)).toFixed(2)} us (least ${elementAt(sorted, 0).toFixed(2)})`,
  );
}
