/** Tool calls from model text, as a stream of deltas: every dialect by name. */
export {
  type Call,
  type Collector,
  type FailedCall,
  type Message,
  type MessagePart,
  collect,
  collectAsync,
  createCollector,
} from './collect.ts'
export { DIALECTS, createParser, markersOf } from './create.ts'
export {
  ERROR_CODES,
  type ErrorCode,
  MisuseError,
  REPAIR_CODES,
  RULES,
  type RepairCode,
  type RuleCode,
  WARNING_CODES,
  type WarningCode,
} from './errors.ts'
export type {
  Finish,
  FinishReason,
  JsonValue,
  Metadata,
  Part,
  Patch,
  Path,
  ReasoningDelta,
  ReasoningEnd,
  ReasoningStart,
  StreamError,
  StreamEvent,
  StreamStart,
  TextDelta,
  TextEnd,
  TextStart,
  ToolCallDelta,
  ToolCallEnd,
  ToolCallError,
  ToolCallStart,
  Usage,
  Warning,
} from './events.ts'
export { createIdGenerator } from './ids.ts'
export { DEFAULT_LIMITS, type Limits } from './limits.ts'
export { joinDeltas, log, logLine } from './log.ts'
export type {
  EndInfo,
  Holding,
  JsonSchema,
  MachineOptions,
  MarkerNote,
  Parser,
  ParserOptions,
  Span,
  SpanKind,
  TagAlias,
  Tool,
  ToolDefinition,
  WithOnEvent,
} from './options.ts'
export { type ParseOptions, type Source, parse, parseMessage } from './parse.ts'
export { applyPatches } from './patches.ts'
export { PRESETS, type Preset, type PresetName } from './presets.ts'
