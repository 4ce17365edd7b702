/** For `node --import`: lets a process run TypeScript sources. */
import { register } from 'node:module'

register('./hooks.mjs', import.meta.url)
