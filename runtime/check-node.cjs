// Runs before `npm start` and `npm test`: reports an unsupported Node in one sentence. CommonJS, so that any Node can read it.
const { engines } = require('../package.json')

const required = engines.node.replace('>=', '')
const [major, minor] = required.split('.').map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)

if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  console.error(
    `Node ${required} or newer is required, but this is Node ${process.versions.node}. ` +
      'Run "npm ci" to install the Node of this repository. ' +
      `If there is none for ${process.platform}-${process.arch}, install Node from https://nodejs.org and try again.`,
  )
  process.exit(1)
}
