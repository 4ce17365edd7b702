/** Colours, and when to use them. */
import type { Arguments, Options } from '../args.ts'
import type { Io } from '../io.ts'

/** Wraps text in terminal codes, or leaves it as it is. */
type Paint = (text: string) => string

export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

export type ColorChoice = 'auto' | 'always' | 'never'

export function createStyle(colored: boolean): Style {
  const wrap =
    (on: number, off: number) =>
    (text: string): string =>
      colored && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  }
}

/** The option first, then the environment (FORCE_COLOR before NO_COLOR), then the terminal. */
export function wantsColor(choice: ColorChoice, { env, stdout }: Io): boolean {
  if (choice !== 'auto') return choice === 'always'
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (env['NO_COLOR']) return false
  return canMoveCursor({ env, stdout })
}

/** Whether the output is a terminal that understands more than lines. */
export function canMoveCursor({ env, stdout }: Pick<Io, 'env' | 'stdout'>): boolean {
  return stdout.isTTY === true && env['TERM'] !== 'dumb'
}

/** The options by which a command lets colours be chosen. */
export const COLOR_OPTIONS: Options = {
  color: {
    optionalValue: true,
    choices: ['auto', 'always', 'never'],
    help: 'Colours for people, always if no value is given',
  },
  'no-color': { help: 'The same as --color=never.' },
}

export function colorChoice({ values }: Arguments): ColorChoice {
  if (values.has('no-color')) return 'never'
  const choice = values.get('color')
  return choice === '' ? 'always' : choice === 'always' || choice === 'never' ? choice : 'auto'
}
