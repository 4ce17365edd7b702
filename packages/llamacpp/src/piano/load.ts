/**
 * Loads node-llama-cpp, if it can be had: an optional package with a native build inside.
 *
 * Only a build that is there is used, on the CPU, with one thread and no log: nothing is compiled
 * or downloaded. Where it cannot be had, the answer is one line that says why, not an exception,
 * since every caller has something else to do then.
 */
type Module = typeof import('node-llama-cpp')

/** node-llama-cpp, ready to load models. */
export interface AvailableEngine {
  readonly available: true
  /** node-llama-cpp's `Llama`; not typed as such, so that these types stand without the package. */
  readonly llama: unknown
  /** Frees the engine and every model that it loaded. */
  dispose(): Promise<void>
}

export interface UnavailableEngine {
  readonly available: false
  /** One line, a whole sentence. */
  readonly reason: string
}

export interface LoadOptions {
  /** Imports the package from elsewhere. Default: `import('node-llama-cpp')` of this module. */
  readonly load?: () => Promise<unknown>
}

/** The engine, or why it cannot be had. Never throws. */
export async function loadNodeLlamaCpp(
  options: LoadOptions = {},
): Promise<AvailableEngine | UnavailableEngine> {
  try {
    const module = (await (options.load ?? load)()) as Module
    const llama = await module.getLlama({
      gpu: false,
      build: 'never',
      skipDownload: true,
      maxThreads: 1,
      logLevel: module.LlamaLogLevel.disabled,
      progressLogs: false,
    })
    const owned = new Set<Release>()
    const engine: AvailableEngine = {
      available: true,
      llama,
      async dispose() {
        for (const release of owned) await release()
        await llama.dispose()
      },
    }
    OWNED.set(engine, owned)
    return engine
  } catch (error) {
    return { available: false, reason: reasonOf(error) }
  }
}

type Release = () => Promise<void>

/**
 * What has to be freed before an engine. node-llama-cpp's own `dispose` waits forever for a model
 * or a context that was garbage-collected before it was disposed of; what is held here is not.
 */
const OWNED = new WeakMap<AvailableEngine, Set<Release>>()

/** Makes an engine's `dispose` call `free`. Returns how to call it, once, before that. */
export function own(engine: AvailableEngine, free: Release): Release {
  const owned = OWNED.get(engine)
  const release = async (): Promise<void> => {
    owned?.delete(release)
    await free()
  }
  owned?.add(release)
  return release
}

const load = (): Promise<Module> => import('node-llama-cpp')

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (message.startsWith("Cannot find package 'node-llama-cpp'"))
    return 'The package node-llama-cpp is not installed.'
  // Its message is its name.
  if (message === 'NoBinaryFoundError')
    return `node-llama-cpp has no build that runs on ${process.platform}-${process.arch}.`
  const [line = ''] = message.split('\n')
  return `node-llama-cpp cannot be loaded: ${line}`
}
