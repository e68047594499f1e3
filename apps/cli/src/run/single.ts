/**
 * `nnhal run` on one input.
 */

import { csvHead, csvLines } from "../csv.ts";
import { writeUserFile } from "../files.ts";
import { fit } from "../fit.ts";
import { prepareRun, stateValues } from "../model/execute.ts";
import type { PreparedInput } from "../model/inputs.ts";
import { measureRuns } from "../model/measure.ts";
import { meanOfParts } from "../model/parts.ts";
import { createLateProgressBar } from "../progress.ts";
import { formatReport, type RunReport, toJson } from "../run-report.ts";
import { drawFound } from "../seen/finder.ts";
import { writeOutputs, writeTrace } from "./outputs.ts";
import { measureProfile } from "./profile.ts";
import { expectPicture, mostValues, pictureOf, type Session } from "./session.ts";

/** Runs a model on one input. */
export async function runSingle(inputs: readonly PreparedInput[], session: Session): Promise<void> {
  const { path, options, context, model, selection, finder, stateFile, imported, note } = session;
  const { cwd, now, stdout, stderr, trace } = context;
  const { runs = 0 } = options;
  const bar = createLateProgressBar(stderr, runs + 2);
  try {
    bar.moveTo(0, "preparing the model");
    const start = now();
    const prepared = await prepareRun(model, selection, { onFallback: note, trace, carried: stateFile?.states });
    const prepare = imported + now() - start;
    const say = (done: number) => bar.moveTo(done + 1, done > runs ? "done" : `run ${done + 1} of ${runs + 1}`);
    say(0);
    const bytes = inputs.map((input) => input.bytes);
    const { outputs: first, latency } = await measureRuns(prepared, bytes, { runs, now, onRun: say });
    const outputs = await meanOfParts(prepared, inputs, first);
    bar.stop();
    const device = prepared.session.compilation.deviceNames.join(", ");
    await prepared.session.close();
    const found = await finder.find(outputs, pictureOf(inputs));
    if (options.draw !== undefined)
      await writeUserFile(options.draw, await drawFound(expectPicture(inputs), found), cwd);
    await stateFile?.write();
    const report: RunReport = {
      model: path,
      device,
      inputs,
      outputs,
      states: stateValues(model, prepared.session.states),
      found,
      runs,
      latency: { prepare, ...latency },
      written: [
        ...(options.outputDir === undefined ? [] : await writeOutputs(options.outputDir, "", outputs, cwd)),
        ...[options.state, options.draw, options.trace].filter((file) => file !== undefined),
      ],
      ...(options.profile && { profile: await measureProfile(bytes, session) }),
    };
    const times = options.trace === undefined ? "" : `\n${await writeTrace(options.trace, path, context)}`;
    if (options.csv) {
      const input = inputs.map(({ source }) => source).join(" + ");
      stdout.write(csvHead(found) + csvLines(options.input?.join(" + ") ?? input, outputs, found));
    } else if (options.json) stdout.write(`${JSON.stringify(toJson(report, mostValues(options)))}\n`);
    else stdout.write(fit(`${formatReport(report, stdout.columns)}${times}`, stdout.columns));
  } finally {
    bar.stop();
  }
}
