/** What holds for every page: links lead somewhere, commands exist, nothing local stands in it. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PAGES, ROOT, fencesOf, folderOf, proseOf, readPage } from './pages.ts'

interface Manifest {
  readonly name: string
  readonly scripts?: Readonly<Record<string, string>>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest

const packages = readdirSync(join(ROOT, 'packages')).map((name) => readManifest(`packages/${name}`))
const scripts = Object.keys(readManifest('.').scripts ?? {})

/** A heading's anchor, as GitHub makes it. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** What is wrong with a link from a page; nothing if it leads somewhere. */
function problemOf(page: string, link: string): string | undefined {
  if (/^(https?:|mailto:)/.test(link)) return undefined
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? join(ROOT, page) : resolve(folderOf(page), path)
  if (!existsSync(target)) return `${link} leads nowhere`
  if (anchor === undefined || statSync(target).isDirectory()) return undefined
  const found = anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
  return found ? undefined : `${link} names no heading`
}

/** Folders of machines and names of hosts: what one machine knows and a reader has not. */
const LOCAL = [
  /(?<![\w.~/-])\/(?:home|root|Users|tmp|mnt|opt|srv|work|workspace)\/[\w.-]+/g,
  /\b[A-Z]:\\\w+/g,
  /\bfile:\/\/\S+/g,
  /\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(?!8080\b)\d+/g,
  /\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3}\b/g,
]
const OWN_NAMES = [hostname(), homedir()].filter((name) => name.length > 5 && name !== 'localhost')

describe.each(PAGES)('%s', (page) => {
  const text = readPage(page)

  it('has links that lead somewhere', () => {
    const links = [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link)
    expect(links.flatMap((link) => problemOf(page, link) ?? [])).toEqual([])
  })

  it('begins with its title', () => {
    expect(text).toMatch(/^# \S/)
  })

  it('says nothing of the machine on which it was written', () => {
    const found = [
      ...LOCAL.flatMap((pattern) => text.match(pattern) ?? []),
      ...OWN_NAMES.filter((name) => text.includes(name)),
    ]
    expect(found).toEqual([])
  })

  it('names commands and packages that exist', () => {
    const shells = fencesOf(page).filter(({ language }) => /^(sh|console)$/.test(language))
    const code = [...shells.map((fence) => fence.text), ...(text.match(/`npm [^`\n]+`/g) ?? [])]
    const found: string[] = []
    for (const [, name = ''] of code.join('\n').matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)) {
      if (!scripts.includes(name)) found.push(`npm run ${name}`)
    }
    const names = packages.map(({ name }) => name)
    for (const [name] of code.join('\n').matchAll(/@talaria\/[\w-]+/g)) {
      if (!names.includes(name)) found.push(name)
    }
    expect(found).toEqual([])
  })
})
