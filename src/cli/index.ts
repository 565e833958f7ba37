#!/usr/bin/env node
// Started by whatever Node the user has, an old one too: it looks at the version before it loads anything.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  import('./main.ts').then(({ start }) => start())
} else {
  console.error(`toolwright needs Node 22.18 or newer; this is Node ${process.versions.node}.`)
  process.exitCode = 1
}
