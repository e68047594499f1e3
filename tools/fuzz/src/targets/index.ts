/** The targets. */
import type { Target } from "../target.ts";
import { burst } from "./burst.ts";
import { cache } from "./cache.ts";
import { client } from "./client.ts";
import { custom } from "./custom.ts";
import { extension } from "./extension.ts";
import { prepare, wasm } from "./prepare.ts";
import { request } from "./request.ts";
import { server } from "./server.ts";
import { tflite } from "./tflite.ts";
import { tokenizer } from "./tokenizer.ts";
import { validation } from "./validation.ts";

export const targets: readonly Target[] = [
  tflite,
  extension,
  custom,
  validation,
  prepare,
  request,
  burst,
  cache,
  server,
  client,
  tokenizer,
  wasm,
];

/** The target with a name. */
export function targetNamed(name: string): Target | undefined {
  return targets.find((target) => target.name === name);
}

/** The name of the corpus that a target starts with. */
export function corpusOf({ name, corpus = name }: Target): string {
  return corpus;
}
