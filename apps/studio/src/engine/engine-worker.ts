/**
 * Entry of the page's worker.
 */
import { expose } from "comlink";
import { createEngine } from "./engine.ts";

expose(createEngine());
