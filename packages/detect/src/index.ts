/** How a model's output is to be read, found out from its chat template. */
export { detectDialect } from './detect.ts'
export type {
  ChatTemplate,
  DetectOptions,
  Detected,
  DetectedOptions,
  Detection,
  NamedTemplate,
  SpecialToken,
  Undetected,
  UndetectedReason,
} from './detection.ts'
