/**
 * Tables that follow the code. `<!-- generated: NAME -->` stands above one that is written from it;
 * `UPDATE=1` rewrites it. `<!-- checked: TYPE, … in FILE; … -->` stands above one that people write:
 * its first column names what the types declare, all of it and nothing else.
 */
import { describe, expect, it } from 'vitest'
import { type Member, membersOf } from './declarations.ts'
import { GENERATED } from './generated.ts'
import { PAGES, readPage, rewritten } from './pages.ts'

interface Table {
  readonly page: string
  readonly kind: string
  readonly about: string
  readonly text: string
}

const tables: readonly Table[] = PAGES.flatMap((page) =>
  [...readPage(page).matchAll(/^<!-- (generated|checked): (.*) -->\n\n((?:\|.*\n)*)/gm)].map(
    ([, kind = '', about = '', text = '']) => ({ page, kind, about, text }),
  ),
)

describe('generated tables', () => {
  const generated = tables.filter(({ kind }) => kind === 'generated')

  it.each(generated.map((table) => [table.about, table] as const))('%s', (about, table) => {
    const { page, text } = table
    const make = GENERATED[about]
    if (!make) throw new Error(`nothing makes the table ${about}`)
    const wanted = make()
    const anchor = `<!-- generated: ${about} -->\n\n`
    if (!rewritten(page, anchor, text, wanted)) expect(text).toBe(wanted)
  })

  it('are all shown', () => {
    expect(generated.map(({ about }) => about).sort()).toEqual(Object.keys(GENERATED).sort())
  })
})

describe('tables of what is declared', () => {
  const checked = tables.filter(({ kind }) => kind === 'checked')

  it.each(checked.map((table) => [`${table.page}: ${table.about}`, table] as const))(
    '%s',
    (_, { about, text }) => {
      const wanted = about.split('; ').flatMap((part): Member[] => {
        const [, types = '', file = ''] = /^(.*) in (\S+)$/.exec(part) ?? []
        return types.split(', ').flatMap((type) => membersOf(file, type))
      })
      const rows = text.trimEnd().split('\n').slice(2)
      const found = rows.flatMap((row) =>
        [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      )
      expect(found.sort()).toEqual(wanted.map(({ name }) => name).sort())
    },
  )

  it('are there', () => {
    expect(checked.length).toBeGreaterThan(3)
  })
})
