/**
 * Every `ts` block of every page compiles, runs, and prints what the `text` block below it shows.
 *
 * A block is a module of its own, beside the page's package, so its imports are resolved as a
 * user's are. `localhost:8080` is a server of the test's own, which plays a recorded llama-server.
 * `no-run` stands on blocks that need what no test has. `UPDATE=1` rewrites the outputs.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadNodeLlamaCpp } from '../../packages/llamacpp/src/piano.ts'
import { type Fence, PAGES, ROOT, fencesOf, rewritten } from './pages.ts'
import { type Playing, playServer } from './server.ts'

interface Block extends Fence {
  /** The package whose dependencies it may import. */
  readonly folder: string
  /** Where the compiler finds it; there is no such file. */
  readonly file: string
  readonly output: Fence | undefined
}

const LOADER = new URL('../../packages/cli/test/loader/register.mjs', import.meta.url).href
const RUNNER = fileURLToPath(new URL('runner/run.mjs', import.meta.url))
const OWN_FOLDERS = ['packages/llamacpp', 'packages/detect']
const SLOW = 120_000
/** Marks blocks that run a model in the process. */
const ENGINE = 'loadNodeLlamaCpp()'

const engine = await loadNodeLlamaCpp()
if (engine.available) await engine.dispose()

const blocks: readonly Block[] = PAGES.flatMap((page) => {
  const fences = fencesOf(page)
  // The command depends on all that a page's examples may use, but for what these packages have.
  const own = OWN_FOLDERS.find((name) => page.startsWith(`${name}/`))
  const folder = join(ROOT, own ?? 'packages/cli')
  return fences.flatMap((fence, at) => {
    if (fence.language !== 'ts') return []
    const next = fences[at + 1]
    const output = next?.follows && next.language === 'text' ? next : undefined
    const file = join(folder, `${page.replaceAll('/', '-')}-${fence.line}.ts`)
    return [{ ...fence, folder, file, output }]
  })
})

const titleOf = ({ page, line }: Fence): string => `${page}:${line}`

/** What the compiler says about each block: one program for all. */
function compile(): ReadonlyMap<string, readonly string[]> {
  const base = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (path) => ts.sys.readFile(path))
  const { compilerOptions } = base.config as { readonly compilerOptions: object }
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...compilerOptions,
      ...{ composite: false, noEmit: true, isolatedDeclarations: false, types: ['node'] },
      ...{ rewriteRelativeImportExtensions: false, allowImportingTsExtensions: true },
      ...{ rootDir: undefined, outDir: undefined, tsBuildInfoFile: undefined },
      ...{ declarationMap: false, sourceMap: false },
    },
    ROOT,
  )
  const texts = new Map(blocks.map(({ file, text }) => [file, `${text}export {}\n`]))
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  host.readFile = (file) => texts.get(file) ?? readFile(file)
  host.fileExists = (file) => texts.has(file) || fileExists(file)
  host.getSourceFile = (file, languageVersion) => {
    const text = texts.get(file)
    return text === undefined
      ? getSourceFile(file, languageVersion)
      : ts.createSourceFile(file, text, languageVersion)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  return new Map(
    blocks.map((block) => {
      const source = program.getSourceFile(block.file)!
      const found = [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ]
      return [block.file, found.map((one) => messageOf(one, block))]
    }),
  )
}

function messageOf({ messageText, start }: ts.Diagnostic, { page, line, text }: Fence): string {
  const below = text.slice(0, start ?? 0).split('\n').length
  return `${page}:${line + below}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
}

interface Result {
  readonly stdout: string
  /** What went wrong; empty if nothing did. */
  readonly stderr: string
}

/** Runs blocks one after another in a process of their own. Resolves with what each printed. */
async function run(runnable: readonly Block[], server: Playing): Promise<readonly Result[]> {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
  }
  const modules = runnable.map(({ file, text }) => ({
    url: pathToFileURL(file.replace(/\.ts$/, '.js')).href,
    code: ts.transpileModule(text.replaceAll('http://localhost:8080', server.url), {
      compilerOptions,
    }).outputText,
  }))
  const node = ['--conditions=source', `--import=${LOADER}`, RUNNER]
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }
  const child = spawn(process.execPath, node, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(modules))
  const results = JSON.parse(await textOf(child.stdout)) as readonly Result[]
  return results.map(({ stdout, stderr }) => ({
    stdout: steady(stdout.replaceAll(server.url, 'http://localhost:8080')),
    stderr,
  }))
}

/** Ids are made anew each time, and no page has blanks at a line's end. */
function steady(output: string): string {
  return output
    .replace(/call_[0-9A-Za-z]{24}/g, 'call_0aM3q9ZxL2vTr6YpK1cWd8Bn')
    .replace(/ +$/gm, '')
}

describe('blocks of TypeScript', () => {
  const runnable = blocks.filter(
    ({ flags, text }) => !flags.includes('no-run') && (engine.available || !text.includes(ENGINE)),
  )
  let diagnostics: ReadonlyMap<string, readonly string[]>
  let results: readonly Result[]

  beforeAll(async () => {
    diagnostics = compile()
    const server = await playServer()
    results = await run(runnable, server)
    await server.close()
  }, SLOW)

  it('are there', () => {
    expect(blocks.length).toBeGreaterThan(10)
  })

  it.each(blocks.map((block) => [titleOf(block), block] as const))('%s compiles', (_, block) => {
    expect(diagnostics.get(block.file)).toEqual([])
  })

  it.each(runnable.map((block) => [titleOf(block), block] as const))('%s runs', (_, block) => {
    const { stdout, stderr } = results[runnable.indexOf(block)]!
    expect(stderr).toBe('')
    const { page, text, output } = block
    if (output === undefined) return
    const anchor = `${text}\`\`\`\n\n\`\`\`text\n`
    if (!rewritten(page, anchor, output.text, stdout)) expect(output.text).toBe(stdout)
  })
})
