/**
 * Options per model line: which dialect it writes, where its prompts leave off, and what it is known
 * to write against its own template.
 *
 * Source: each line's chat template, and reports of its users.
 */
import { MisuseError } from './errors.ts'
import { didYouMean } from './names.ts'
import type { ParserOptions } from './options.ts'

/** What a model line needs. */
export interface Preset {
  /** Models that it is for. */
  readonly models: readonly string[]
  readonly options: Omit<ParserOptions, 'preset'>
}

/** Names of presets. */
export type PresetName =
  | 'hermes'
  | 'hermes-4'
  | 'qwen2.5'
  | 'qwen2.5-coder'
  | 'qwen3'
  | 'qwen3-thinking'
  | 'deepseek-r1'
  | 'magistral'

/** Every preset by name, as the option `preset` takes it. */
export const PRESETS: Readonly<Record<PresetName, Preset> & Record<string, Preset>> = {
  hermes: {
    models: ['Hermes 2 Pro', 'Hermes 3', 'Functionary 3.1', 'Granite 4'],
    options: { dialect: 'hermes' },
  },
  'hermes-4': {
    models: ['Hermes 4'],
    options: { dialect: 'hermes', callsInReasoning: 'at-end' },
  },
  'qwen2.5': { models: ['Qwen2.5', 'Qwen2.5-VL'], options: { dialect: 'hermes' } },
  'qwen2.5-coder': {
    models: ['Qwen2.5-Coder'],
    options: { dialect: 'hermes', bareJson: 'whole-message', fencedCall: 'whole-message' },
  },
  qwen3: { models: ['Qwen3', 'Qwen3-VL'], options: { dialect: 'hermes' } },
  'qwen3-thinking': {
    models: ['Qwen3-2507 Thinking', 'QwQ'],
    options: { dialect: 'hermes', startIn: 'reasoning' },
  },
  'deepseek-r1': {
    models: ['DeepSeek-R1 and its distilled models'],
    options: { dialect: 'reasoning', startIn: 'reasoning' },
  },
  magistral: { models: ['Magistral'], options: { dialect: 'reasoning' } },
}

/** The options with those of their preset beneath. Throws `MisuseError` `unknown-preset`. */
export function withPreset(options: ParserOptions): Omit<ParserOptions, 'preset'> {
  const { preset, ...rest } = options
  if (preset === undefined) return rest
  if (!Object.hasOwn(PRESETS, preset)) {
    const all = Object.keys(PRESETS)
    const near = didYouMean(preset, all) || '.'
    const message = `Unknown preset “${preset}”${near} Known: ${all.join(', ')}.`
    throw new MisuseError('unknown-preset', message)
  }
  const stated = Object.entries(rest).filter(([, value]) => value !== undefined)
  return { ...PRESETS[preset as PresetName].options, ...Object.fromEntries(stated) }
}
