/** The inputs of all fixtures of the family, for properties that hold whatever the fixture says. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, readFixtures } from '@talaria/fixtures'
import type { ParserOptions, Tool } from '../src/index.ts'

export interface FixtureInput {
  /** File and case. */
  readonly name: string
  readonly source: string
  readonly options: ParserOptions
}

/** A property that tries every prefix costs the square of this. */
const LONGEST = 600

let inputs: readonly FixtureInput[] | undefined

/** All stream fixtures of the Hermes family. Long ones are left to the fixtures' own checker. */
export function hermesInputs(): readonly FixtureInput[] {
  inputs ??= readInputs(folderOf('hermes')).filter(({ source }) => source.length <= LONGEST)
  if (inputs.length === 0) throw new Error('found no fixture to try the promises on')
  return inputs
}

function readInputs(folder: string): FixtureInput[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .flatMap((file) =>
      readFixtures(join(folder, file)).flatMap((found) => {
        if (found.kind !== 'stream') return []
        // How the stream ends is for each property to say.
        const { end: _, ...options } = found.options
        const tools = found.tools as unknown as readonly Tool[] | undefined
        const given = { ...options, ...(tools && { tools }) } as ParserOptions
        return [{ name: `${file}: ${found.id}`, source: found.input, options: given }]
      }),
    )
}
