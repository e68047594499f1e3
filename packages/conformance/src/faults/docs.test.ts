/** docs/measurements-planted-faults.md: the faults that the kit is tested with. `vitest -u` writes it again. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { aidlExecutionFaults } from "../suites/aidl/execution-faults.test-helper.ts";
import { aidlObjectFaults } from "../suites/aidl/object-faults.test-helper.ts";
import type { Planted } from "../suites/contract/planted.test-helper.ts";
import { plantedInDrivers } from "../suites/contract/planted-driver.test-helper.ts";
import { plantedInDevice } from "../suites/contract/planted-objects.test-helper.ts";
import { deviceFaults } from "../suites/device-faults.test-helper.ts";
import { executionFaults } from "../suites/execution-faults.test-helper.ts";
import { cacheFaults, memoryFaults } from "../suites/resource-faults.test-helper.ts";
import { reusableFaults } from "../suites/reusable-faults.test-helper.ts";
import { graphFaults } from "./graph-faults.test-helper.ts";
import { checkOf } from "./kernel-fault.test-helper.ts";
import { kernelFaults, unfoundKernelFaults } from "./kernel-faults.test-helper.ts";
import { stateFaults } from "./state-faults.test-helper.ts";

const page = fileURLToPath(new URL("../../../../docs/measurements-planted-faults.md", import.meta.url));

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")).replaceAll(" ", ""), ...rows.map(line)].join("\n");
}

/** One row for each method, since the faults of all are alike. */
function byMethod(faults: readonly Planted[]): string[][] {
  const methods = [...new Set(faults.map(({ method }) => method))];
  return methods.map((method) => {
    const own = faults.filter((fault) => fault.method === method);
    const checks = [...new Set(own.map(({ finds }) => finds))];
    return [`\`${method}\``, [...new Set(own.map(({ what }) => what))].join("; "), checks.join("; ")];
  });
}

it("docs/measurements-planted-faults.md lists every planted fault, and what finds it", async () => {
  const contract = [...plantedInDevice, ...plantedInDrivers];
  const others = [
    ...deviceFaults,
    ...executionFaults,
    ...reusableFaults,
    ...memoryFaults,
    ...cacheFaults,
    ...stateFaults,
  ];
  const ofAidl = [...aidlObjectFaults, ...aidlExecutionFaults];
  const text = `# Planted faults

What the conformance kit is tried with: the reference device with one fault, which a check of the default run must find. This page is
written by \`packages/conformance/src/faults/docs.test.ts\` (\`vitest -u\`) from the tables that the tests read; they run each fault against the
check that is named here. \`NNHAL_FAULTS=all npx vitest run packages/conformance/src/faults\` runs each against the whole default run.

${kernelFaults.length + graphFaults.length + others.length + ofAidl.length + contract.length} faults are found, ${unfoundKernelFaults.length} are not.

## Arithmetic

In the kernel of one operation. The check is the suite arithmetic, with the examples of the operation, or those of one kind.

${table(
  ["operation", "fault", "check"],
  kernelFaults.map((fault) => [fault.operation, fault.what, checkOf(fault).slice(0, -1)]),
)}

## Graphs

What compilers of graphs get wrong, and operations alone do not show. A device that…

${table(
  ["fault", "check"],
  graphFaults.map(([what, , check]) => [what, check]),
)}

## Devices

A device that…

${table(
  ["fault", "check"],
  others.map(([what, , check]) => [what, check]),
)}

## Drivers of AIDL

A driver of AIDL 4 that…

${table(
  ["fault", "check"],
  ofAidl.map(([what, , check]) => [what, check]),
)}

## The contract

In one method of a device, of its objects, or of a driver of a HAL version.

${table(["method", "faults", "checks"], byMethod(contract))}

## Not found

${table(
  ["operation", "fault", "why not"],
  unfoundKernelFaults.map(({ operation, what, why }) => [operation, what, why]),
)}
`;
  await expect(text).toMatchFileSnapshot(page);
});
