/**
 * Runs foreign code that reports to the console. node-llama-cpp prints stack traces there when the
 * process that tries its build dies, as it does by Ctrl-C; our output has another place.
 */
const METHODS = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const

/** What `work` gives; the console is silent till then. */
export async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const restore = METHODS.map((name) => {
    const method = console[name]
    console[name] = () => {}
    return () => {
      console[name] = method
    }
  })
  try {
    return await work()
  } finally {
    for (const one of restore) one()
  }
}
