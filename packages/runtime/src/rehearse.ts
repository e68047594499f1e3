/**
 * The rehearsal of an execution, as devices rehearse theirs: JavaScript compiles a function when it is first called, which takes longer
 * than small networks do. So it is called before somebody waits.
 */
import { rehearsalModel, steadyClock } from "@nnhal/driver-core/device";
import { ErrorStatus, type PreparedModel, type Request } from "@nnhal/types";
import { noTracer, notMeasured, silentLogger } from "@nnhal/utils";
import { Execution } from "./execution.ts";
import { halOperandFacts } from "./operand-facts.ts";

/** Executes a model that computes nothing, where nobody sees it: it is neither logged nor traced. Gives its request. */
export async function rehearseExecution(): Promise<Request | undefined> {
  let seen: Request | undefined;
  const preparedModel: PreparedModel = {
    async execute(request) {
      seen = request;
      return { status: ErrorStatus.NONE, outputShapes: [{ dimensions: [1], isSufficient: true }], timing: notMeasured };
    },
    close() {},
  };
  const executable = { preparedModel, canFallBack: false };
  const compilation = {
    hal: rehearsalModel,
    factsOf: halOperandFacts,
    executable,
    lend: () => executable,
    giveBack() {},
    expectOneExplicitDevice() {},
    log: silentLogger,
    trace: noTracer,
    now: steadyClock,
  };
  const execution = new Execution(compilation);
  execution.setInput(0, new Float32Array(1));
  execution.setOutput(0, new Float32Array(1));
  await execution.compute();
  return seen;
}
