/**
 * Runs the workspace's commands on a machine that has nothing but Node and npm.
 *
 * The pinned pnpm (`packageManager` in package.json) is fetched once into `.tools`, then installs the
 * frozen lockfile. pnpm itself decides whether anything is to do: with nothing changed that takes
 * a tenth of a second, so it is asked each time and a stale install can't be mistaken for a fresh one.
 * Steps that take time say so; steps with nothing to do are silent. Only Node's own modules are
 * imported here, and no shell is used, so that it works before the install and on every platform.
 */
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TOOLS = join(ROOT, '.tools')
/** A step that takes longer than this, in milliseconds, is announced. */
const QUIET_FOR = 1_000

/** What a user has to read: shown without a stack, with the output of the failed tool above it. */
class Failure extends Error {
  constructor(message, output = '') {
    super(message)
    this.output = output
  }
}

const say = (message) => process.stderr.write(`talaria: ${message}\n`)

/**
 * Runs a program. `quiet` collects its output, else it has the terminal to itself.
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(file, args, { quiet = false, cwd = ROOT, env = process.env } = {}) {
  const child = spawn(file, args, {
    cwd,
    env,
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => (output += text))
  child.stderr?.setEncoding('utf8').on('data', (text) => (output += text))
  // A terminal sends Ctrl-C to the child as well, which may have something to finish first.
  const wait = () => {}
  const pass = (signal) => child.kill(signal)
  process.on('SIGINT', wait).on('SIGTERM', pass).on('SIGHUP', pass)
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new Failure(`${file} does not start: ${cause.message}`)))
    child.on('close', (code, signal) => {
      process.off('SIGINT', wait).off('SIGTERM', pass).off('SIGHUP', pass)
      resolve({ code: code ?? 128 + constants.signals[signal ?? 'SIGTERM'], output })
    })
  })
}

/** Runs a quiet step and announces it: at once when `message` is known to be needed, else when slow. */
async function step(message, known, file, args, options) {
  if (known) say(`${message}…`)
  const timer = known ? undefined : setTimeout(() => say(`${message}…`), QUIET_FOR)
  const result = await run(file, args, { ...options, quiet: true })
  clearTimeout(timer)
  if (result.code > 128) throw new Failure(`stopped while ${message}`)
  return result
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new Failure(`Node 20.19 or newer is needed; this is ${process.versions.node}`)
}

/** npm's own program, for a start without a shell: Windows starts no `npm.cmd` without one. */
function findNpm() {
  const places = [
    process.env.npm_execpath ?? '',
    join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js'),
    join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js'),
    join(dirname(process.execPath), '../share/nodejs/npm/bin/npm-cli.js'),
  ]
  const found = places.find((path) => path.endsWith('npm-cli.js') && existsSync(path))
  if (found === undefined)
    throw new Failure('npm is not where Node keeps it; start this with `npm`')
  return found
}

/** The folder of pnpm's native program under an npm prefix. Its wrapper would need install scripts. */
function pnpmFolder(prefix) {
  const scope = join(prefix, 'node_modules/@pnpm')
  if (!existsSync(scope)) return undefined
  const name = process.platform === 'win32' ? 'pnpm.exe' : 'pnpm'
  return readdirSync(scope)
    .map((folder) => join(scope, folder))
    .find((folder) => existsSync(join(folder, name)))
}

/** Makes sure that the pinned pnpm is there. Returns its folder. */
async function getPnpm() {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const version = packageManager.slice('pnpm@'.length)
  const home = join(TOOLS, packageManager.replace('@', '-'))
  const present = pnpmFolder(home)
  if (present !== undefined) return present

  // What is not whole never gets the final name.
  const draft = join(TOOLS, `draft-${process.pid}`)
  try {
    mkdirSync(draft, { recursive: true })
    // With a manifest the folder is npm's own. A `--prefix` would hide the user's npm settings.
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n')
    const flags = [
      '--ignore-scripts',
      '--fetch-retry-mintimeout=1000',
      '--fetch-retry-maxtimeout=4000',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]
    const args = [findNpm(), 'install', ...flags, packageManager]
    const { code, output } = await step(
      `getting pnpm ${version} (once)`,
      true,
      process.execPath,
      args,
      { cwd: draft },
    )
    if (code !== 0) throw new Failure(`npm can't get pnpm ${version}${reason(output)}`, output)
    if (pnpmFolder(draft) === undefined) {
      throw new Failure(`pnpm ${version} has no build for ${process.platform}-${process.arch}`)
    }
    // Another command may have been as far a moment before: then its pnpm is as good as ours.
    if (!existsSync(home)) renameSync(draft, home)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  for (const name of readdirSync(TOOLS)) {
    if (name.startsWith('pnpm-') && join(TOOLS, name) !== home) {
      rmSync(join(TOOLS, name), { recursive: true, force: true })
    }
  }
  return pnpmFolder(home) ?? ''
}

/** How Node, npm and pnpm say that they did not reach the registry. */
const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONN\w+|E\w*TIMEDOUT|ENETUNREACH|NETWORK_ERROR|error sending request/

/** Says in a few words why a download failed, when that can be told. */
function reason(output) {
  if (NETWORK.test(output)) return ': the package registry cannot be reached'
  return output.includes('ENOSPC') ? ': the disk is full' : ''
}

async function install(pnpm, env) {
  const first = !existsSync(join(ROOT, 'node_modules/.modules.yaml'))
  const message = first
    ? 'installing dependencies (first run, about half a minute)'
    : 'checking dependencies'
  // The lockfile was checked when it was made, and holds hashes: to ask the registry about the age of
  // each of its entries again would double the time on a new machine.
  const flags = ['--frozen-lockfile', '--trust-lockfile', '--config.confirmModulesPurge=false']
  const args = ['install', ...flags]
  const { code, output } = await step(message, first, pnpm, args, { env })
  if (code === 0) return
  if (/OUTDATED_LOCKFILE|CONFIG_MISMATCH|frozen installation/.test(output)) {
    const command = 'npm run pnpm -- install --no-frozen-lockfile'
    throw new Failure(`pnpm-lock.yaml does not fit the package.json files; run \`${command}\``)
  }
  throw new Failure(`the install failed${reason(output)}`, output)
}

async function build(env) {
  const args = [
    join(ROOT, 'node_modules/turbo/bin/turbo'),
    'run',
    'build',
    '--output-logs=errors-only',
  ]
  const { code, output } = await step('building', false, process.execPath, args, { env })
  if (code !== 0) throw new Failure('the build failed', output)
}

/** Replaces the rest of this process: its exit code is ours. */
const node = (env, script, ...args) => run(process.execPath, [join(ROOT, script), ...args], { env })

const COMMANDS = {
  async start(env, args) {
    await build(env)
    return node(env, 'packages/cli/dist/main.js', 'demo', ...args)
  },
  test: (env, args) => node(env, 'node_modules/vitest/vitest.mjs', 'run', ...args),
  async build(env) {
    await build(env)
    return { code: 0 }
  },
  async bench(env, args) {
    await build(env)
    return run('pnpm', ['--silent', '--dir', 'bench', 'run', 'bench', ...args], { env })
  },
  check: (env, args) => node(env, 'scripts/check.mjs', ...args),
  async fix(env) {
    const lint = await node(env, 'node_modules/oxlint/bin/oxlint', '--fix')
    const format = await node(env, 'node_modules/oxfmt/bin/oxfmt')
    return { code: lint.code || format.code }
  },
}

async function main([command = '', ...args]) {
  checkNode()
  if (command !== 'pnpm' && !Object.hasOwn(COMMANDS, command)) {
    throw new Failure(
      `no command \`${command}\`; there are ${Object.keys(COMMANDS).join(', ')}, pnpm`,
    )
  }
  const folder = await getPnpm()
  const pnpm = join(folder, process.platform === 'win32' ? 'pnpm.exe' : 'pnpm')
  // turbo looks for pnpm on the path. Windows may spell that variable `Path`.
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH'
  const env = {
    ...process.env,
    [name]: `${folder}${delimiter}${process.env[name] ?? ''}`,
    pnpm_config_update_notifier: 'false',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  }
  if (command === 'pnpm') return run(pnpm, args, { env })
  await install(pnpm, env)
  return COMMANDS[command](env, args)
}

try {
  const { code } = await main(process.argv.slice(2))
  process.exitCode = code
} catch (error) {
  if (!(error instanceof Failure)) throw error
  if (error.output !== '') process.stderr.write(`${error.output.trimEnd()}\n`)
  say(error.message)
  process.exitCode = 1
}
