/** Writes a case that broke a promise as a fixture: put right and explained, it guards the fix. */
import { log } from '../src/index.ts'
import { eventsOf } from '../test/drive.ts'
import type { Case } from './cases.ts'

/** The case in the format of the fixtures, with the events of today where there are any. */
export function asFixture({ source, options }: Case, promise: string): string {
  const { dialect, tools, ...rest } = options
  const named = typeof dialect === 'string' ? ` dialect=${dialect}` : ''
  const others = typeof dialect === 'string' || dialect === undefined ? rest : { dialect, ...rest }
  // What a fence would hide, or an editor change, is written as JSON.
  const plain = /^[\n\x20-\x7e]*$/.test(source) && !/[ \n]$|[ ]\n/.test(source) && source !== ''
  return [
    `## Found by the fuzzer: ${promise}`,
    'Say here what is right, and why.',
    fence(`stream${plain ? '' : ' json'}${named}`, plain ? source : asciiJson(source)),
    ...(tools === undefined ? [] : [fence('tools', JSON.stringify(tools))]),
    ...(Object.keys(others).length === 0 ? [] : [fence('options', JSON.stringify(others))]),
    fence('events', eventLines({ source, options }).join('\n')),
  ].join('\n\n')
}

function eventLines({ source, options }: Case): readonly string[] {
  try {
    return log(eventsOf(source, options))
  } catch (error) {
    return [String(error)]
  }
}

function asciiJson(source: string): string {
  return JSON.stringify(source).replace(/[^\x20-\x7e]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function fence(info: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${info}\n${text}\n${ticks}`
}
