/**
 * @nnhal/network: networks for applications. Load a .tflite model, run it on pictures, numbers or sound, and read the result.
 */
export type { Engine } from "./devices.ts";
export type { ElementArray, ElementType, NumberArray, Quantization } from "./elements.ts";
export { NetworkError, type NetworkErrorCode, type NetworkErrorOptions } from "./error.ts";
export type { RunTiming } from "./execute.ts";
export type { Extension } from "./extensions.ts";
export type { InputValue } from "./inputs.ts";
export { coco80Labels, cocoLabels, pascalVocLabels } from "./label-lists.ts";
export { type LoadOptions, type LoadProgress, load } from "./load.ts";
export type { SessionOptions, Stage } from "./local-session.ts";
export type { Model, ProfileOptions, RunOptions } from "./model.ts";
export type { ModelState } from "./model-state.ts";
export { type Box, type Color, type Colour, colorOf, colourOf, type Drawing, draw } from "./picture/draw.ts";
export { encodePng } from "./picture/encode-png.ts";
export type { DrawText, TextImage } from "./picture/font.ts";
export type { PictureLike } from "./picture/like.ts";
export { type PictureOptions, type PictureSource, picture } from "./picture/load-picture.ts";
export type { Picture, PictureUse } from "./picture/picture.ts";
export type { Port } from "./port.ts";
export type { Source } from "./read.ts";
export type { OutputBuffers, Outputs } from "./results.ts";
export type { Inputs } from "./run-inputs.ts";
export { parseLabels, type ScoredClass, top } from "./scores.ts";
export type { ExplainedOperation, Explanation, Profile } from "./session.ts";
export { type ClassifyOptions, classify } from "./tasks/classify.ts";
export { type ClassifyAudioOptions, classifyAudio, type HeardClasses } from "./tasks/classify-audio.ts";
export { type ClassifyTextOptions, classifyText } from "./tasks/classify-text.ts";
export { type Detection, type DetectOptions, detect } from "./tasks/detect.ts";
export { cosineSimilarity, type EmbedOptions, embed } from "./tasks/embed.ts";
export {
  type Landmark,
  type LandmarksOptions,
  landmarks,
  type PartOfPoint,
  personLandmarks,
  personLines,
  showsLandmarks,
} from "./tasks/landmarks.ts";
export { type Segmentation, type SegmentOptions, segment } from "./tasks/segment.ts";
export { resample, type Sound, type SoundOptions, sound } from "./tasks/sound.ts";
export type { Tensor, TensorInfo } from "./tensor-info.ts";
export type { TokenizerInfo } from "./tokenizer.ts";
export type { NumberList, PlainValue, ShapedData, StringList } from "./values.ts";
