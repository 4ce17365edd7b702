/** What pnpm does otherwise here than by itself: at the install, and when a package is packed. */

/**
 * Some of llama.cpp's builds for ARM name x64, too, as a CPU that they may be installed on. Only
 * the build that runs here is of use, so each keeps its own CPU alone: 40 MB less.
 */
const CPU_OF = { arm64: 'arm64', armv7l: 'arm' }

function readPackage(manifest) {
  const [, arch] = /^@node-llama-cpp\/\w+-(arm64|armv7l)/.exec(manifest.name) ?? []
  if (arch !== undefined) manifest.cpu = [CPU_OF[arch]]
  return manifest
}

/**
 * The `source` condition is for this workspace. In a published package it would make the build of
 * whoever uses a condition of that name compile our sources, so it stays at home, and so does what
 * only serves development.
 */
function beforePacking({ devDependencies, scripts, ...manifest }) {
  for (const target of Object.values(manifest.exports ?? {})) delete target.source
  return manifest
}

module.exports = { hooks: { readPackage, beforePacking } }
