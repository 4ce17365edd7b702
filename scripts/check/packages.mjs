/**
 * Checks the published packages as their users get them: packed, unpacked elsewhere, with nothing
 * beside them but the dependencies that they declare. Each entry must load in Node without its
 * optional peers, must be clear to TypeScript in both of its module resolutions, and each command
 * must know its version.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT, run, tool, workspace } from './tool.mjs'

/** What a package must hold besides its code. */
const WANTED = ['package.json', 'README.md', 'LICENSE']

/** Packs one package and unpacks it under `home`. Returns where it is, and how it describes itself. */
async function unpack(folder, home) {
  const tarball = join(home, `${folder.replace('/', '-')}.tgz`)
  await run('pnpm', ['--silent', 'pack', '--out', tarball], join(ROOT, folder))
  const target = join(home, 'node_modules/@talaria', folder.slice('packages/'.length))
  mkdirSync(target, { recursive: true })
  await run('tar', ['-xf', tarball, '-C', target, '--strip-components=1'])
  const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'))
  return { folder, tarball, target, manifest }
}

/** Puts the named dependencies beside an unpacked package: ours unpacked, others as installed here. */
function link({ folder, target }, names, home) {
  for (const name of names) {
    const ours = join(home, 'node_modules', name)
    const place = join(target, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(
      existsSync(ours) ? ours : realpathSync(join(ROOT, folder, 'node_modules', name)),
      place,
      'junction',
    )
  }
}

/** What can be imported from a package, its wildcards spelled out. */
function entries({ target, manifest }) {
  return Object.entries(manifest.exports ?? {}).flatMap(([entry, { default: file }]) => {
    const name = `${manifest.name}${entry.slice(1)}`
    if (!entry.endsWith('*')) return [name]
    return readdirSync(join(target, dirname(file)))
      .filter((found) => found.endsWith('.js'))
      .map((found) => name.replace('*', found.slice(0, -'.js'.length)))
  })
}

/** What is missing in a package, and what is in it that should not be. */
function contents({ target, manifest }) {
  const found = WANTED.filter((file) => !existsSync(join(target, file))).map((file) => `no ${file}`)
  if (JSON.stringify(manifest).includes('workspace:')) found.push('a dependency on the workspace')
  const built = readdirSync(join(target, 'dist'), { recursive: true, encoding: 'utf8' })
  for (const file of built.filter((name) => name.endsWith('.js'))) {
    const source = join(target, 'src', `${file.slice(0, -'.js'.length)}.ts`)
    if (!existsSync(source))
      found.push(`dist/${file}, which has no source: remove dist and build again`)
  }
  return found.map((what) => `${manifest.name} holds ${what}`)
}

/** Fails, with all that the tools say, unless TypeScript understands all entries. */
async function typecheck(names, home) {
  const imports = names.map((name, index) => `import * as entry${index} from '${name}'`)
  const all = `export const all: unknown[] = [${names.map((_, index) => `entry${index}`).join(', ')}]`
  writeFileSync(join(home, 'consumer.ts'), `${imports.join('\n')}\n${all}\n`)
  const flags = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--lib',
    'es2023,dom',
    '--types',
    'node',
  ]
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')]
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const modules = ['--module', module, '--moduleResolution', resolution]
    await tool('typescript/bin/tsc', ...flags, ...types, ...modules, join(home, 'consumer.ts'))
  }
}

export async function packages() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'talaria-check-')))
  try {
    writeFileSync(join(home, 'package.json'), '{ "type": "module" }\n')
    const folders = workspace().filter(({ manifest }) => manifest.private !== true)
    const packed = []
    for (const { folder } of folders) packed.push(await unpack(folder, home))

    const found = packed.flatMap(contents)
    for (const one of packed) {
      link(one, Object.keys(one.manifest.dependencies ?? {}), home)
      await tool('publint/src/cli.js', 'run', one.tarball, '--strict')
      if (one.manifest.exports === undefined) continue
      await tool(
        '@arethetypeswrong/cli/dist/index.js',
        one.tarball,
        '--profile=esm-only',
        '--no-emoji',
      )
    }

    const names = packed.flatMap(entries)
    const smoke = names.map((name) => `await import('${name}')`)
    writeFileSync(join(home, 'smoke.js'), `${smoke.join('\n')}\n`)
    await run(process.execPath, [join(home, 'smoke.js')])
    for (const { target, manifest } of packed) {
      for (const [command, file] of Object.entries(manifest.bin ?? {})) {
        const answer = await run(process.execPath, [join(target, file), '--version'])
        if (!answer.includes(manifest.version))
          found.push(`${command} --version says ${answer.trim()}`)
      }
    }

    for (const one of packed) link(one, Object.keys(one.manifest.peerDependencies ?? {}), home)
    await typecheck(names, home)
    return found
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
