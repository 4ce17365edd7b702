/** What can be said to `npm run bench`. */
import { parseArgs } from 'node:util'
import {
  CHUNK_MODES,
  type ChunkMode,
  HOSTILE,
  WORKLOADS,
  type WorkloadName,
} from '@talaria/fixtures'
import { MODE_LABELS } from './chunks.ts'

/** What is measured besides workloads. */
const EXTRAS = ['growth', 'heap'] as const
export type Extra = (typeof EXTRAS)[number]

export interface Request {
  readonly quick: boolean
  readonly workloads: readonly WorkloadName[]
  readonly modes: readonly ChunkMode[]
  readonly extras: readonly Extra[]
  /** Everything was asked for. */
  readonly all: boolean
}

export const HELP: string = `npm run bench -- [--quick] [--only NAME,…] [--mode MODE,…]

  --quick  under a minute: less of each, hostile workloads in chunks of 1-8 units only
  --only   workloads, growth, heap:
           ${WORKLOADS.join(', ')}
           ${HOSTILE.join(', ')}
  --mode   how inputs are cut, in UTF-16 units: ${Object.values(MODE_LABELS).join(', ')}
`

/** What was typed that means nothing; the message says what would. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Reads the arguments; undefined asks for help. Throws `UsageError`. */
export function readArguments(argv: readonly string[]): Request | undefined {
  const { quick, only, mode, help } = parse(argv)
  if (help) return undefined
  const names = [...WORKLOADS, ...HOSTILE, ...EXTRAS]
  const wanted = only && choose('--only', only, names)
  const labels = mode && choose('--mode', mode, Object.values(MODE_LABELS))
  return {
    quick,
    workloads: [...WORKLOADS, ...HOSTILE].filter((name) => wanted?.includes(name) ?? true),
    modes: CHUNK_MODES.filter((known) => labels?.includes(MODE_LABELS[known]) ?? true),
    extras: EXTRAS.filter((name) => wanted?.includes(name) ?? !mode),
    all: !wanted && !labels,
  }
}

function parse(argv: readonly string[]): {
  quick: boolean
  only: string[] | undefined
  mode: string[] | undefined
  help: boolean
} {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true },
        mode: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    return { ...values, only: values.only, mode: values.mode }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** The listed names, all of them known. */
function choose<Name extends string>(
  option: string,
  lists: readonly string[],
  known: readonly Name[],
): Name[] {
  return lists
    .flatMap((list) => list.split(','))
    .map((name) => {
      const found = known.find((one) => one === name.trim())
      if (found !== undefined) return found
      throw new UsageError(`${option} knows ${known.join(', ')}, but not "${name}".`)
    })
}
