/**
 * Reader of what a maker packs with a model: names of classes, and tokenisers. It is loaded for models with TFLite Metadata.
 */
export { createLabelFinder } from "./labels.ts";
export { findTokenizers } from "./tokenize/packed.ts";
