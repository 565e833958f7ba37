#!/usr/bin/env node
// Any Node version may start this file: it checks the version before it imports anything else.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  import('./code-cache.ts')
    .then(({ keepCompiledCode }) => keepCompiledCode(import.meta.filename))
    .then(() => import('./main.ts'))
    .then(({ start }) => start(import.meta.filename))
} else {
  console.error(`toolwright requires Node 22.18 or newer, got Node ${process.versions.node}. Update Node.`)
  process.exitCode = 1
}
