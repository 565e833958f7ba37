// What gives JavaScript code in Node its global `tools`. Requests are lines of JSON on descriptor 5, answers on 6.

export const nodeTools: string = `import { Socket } from 'node:net'

const requests = new Socket({ fd: 5, readable: false, writable: true })
const answers = new Socket({ fd: 6, readable: true, writable: false })
const waiting = new Map()
let last = 0
let text = ''

answers.setEncoding('utf8')
answers.unref() // only a call that waits keeps the program alive
requests.unref()
answers.on('data', (chunk) => {
  text += chunk
  for (let end = text.indexOf('\\n'); end >= 0; end = text.indexOf('\\n')) {
    const { id, result, error } = JSON.parse(text.slice(0, end))
    text = text.slice(end + 1)
    const call = waiting.get(id)
    waiting.delete(id)
    if (waiting.size === 0) answers.unref()
    if (error === undefined) call?.resolve(result)
    else call?.reject(Object.assign(new Error(error), { name: 'ToolError' }))
  }
})

const call = (name, args = {}) =>
  new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject })
    answers.ref()
    requests.write(JSON.stringify({ id: last, name, args }) + '\\n')
  })

globalThis.tools = new Proxy(Object.freeze({}), {
  get: (_, name) => (typeof name === 'string' && name !== 'then' ? (args) => call(name, args) : undefined),
})
`
