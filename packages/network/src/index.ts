/**
 * @nnhal/network: networks for applications. Load a .tflite model, run it on pictures, numbers or sound, and read the result.
 */
export type { Engine } from "./devices.ts";
export type { ElementArray, ElementType, NumberArray, Quantization } from "./elements.ts";
export { NetworkError, type NetworkErrorCode, type NetworkErrorOptions } from "./error.ts";
export type { InputValue } from "./inputs.ts";
export { type LoadOptions, type LoadProgress, load } from "./load.ts";
export type { SessionOptions, Stage } from "./local-session.ts";
export type { Inputs, Model, ModelState, RunOptions } from "./model.ts";
export type { PictureLike } from "./picture/like.ts";
export type { Picture, PictureUse } from "./picture/picture.ts";
export type { Port } from "./port.ts";
export type { Source } from "./read.ts";
export type { OutputBuffers, Outputs } from "./results.ts";
export { parseLabels, type ScoredClass } from "./scores.ts";
export type { ExplainedOperation, Explanation, Profile } from "./session.ts";
export type { Tensor, TensorInfo } from "./tensor-info.ts";
export type { NumberList, PlainValue, ShapedData } from "./values.ts";
