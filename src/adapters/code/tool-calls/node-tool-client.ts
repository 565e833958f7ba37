// Defines the global `tools` for JavaScript code that runs in Node. Calls are lines of JSON on descriptor 5, results on
// descriptor 6; the host side is tool-channel.ts.

/** A module for `node --import`, loaded before the code. */
export const nodeToolClient: string = `import { Socket } from 'node:net'

const calls = new Socket({ fd: 5, readable: false, writable: true })
const results = new Socket({ fd: 6, readable: true, writable: false })
const pending = new Map()
let lastId = 0
let text = ''

results.setEncoding('utf8')
results.unref() // only a pending call keeps the program alive
calls.unref()
results.on('data', (chunk) => {
  text += chunk
  for (let end = text.indexOf('\\n'); end >= 0; end = text.indexOf('\\n')) {
    const { id, result, error } = JSON.parse(text.slice(0, end))
    text = text.slice(end + 1)
    const call = pending.get(id)
    pending.delete(id)
    if (pending.size === 0) results.unref()
    if (error === undefined) call?.resolve(result)
    else call?.reject(Object.assign(new Error(error), { name: 'ToolError' }))
  }
})

const call = (name, args = {}) =>
  new Promise((resolve, reject) => {
    pending.set(++lastId, { resolve, reject })
    results.ref()
    calls.write(JSON.stringify({ id: lastId, name, args }) + '\\n')
  })

globalThis.tools = new Proxy(Object.freeze({}), {
  get: (_, name) => (typeof name === 'string' && name !== 'then' ? (args) => call(name, args) : undefined),
})
`
