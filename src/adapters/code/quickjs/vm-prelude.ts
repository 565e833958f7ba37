// Defines the globals of JavaScript code in QuickJS: console, tools, files, timers. The prelude runs inside the virtual
// machine with the same rights as the code. It reaches the host only through the functions in `host`, which exchange text
// and bytes. Text crosses as JSON, because only JSON preserves every string, lone surrogates and NUL included.

/** The source of a function that takes `host`, installs the globals and returns the functions that the host calls. */
export const prelude: string = String.raw`(function (host) {
  'use strict'
  const { parse, stringify } = JSON

  const MAX_ITEMS = 1000
  const MAX_DEPTH = 6
  const MAX_FRAMES = 10

  const formatList = (indent, open, items, close) => {
    if (items.length === 0) return open + close
    const line = open + ' ' + items.join(', ') + ' ' + close
    if (line.length <= 100) return line
    return open + items.map((text) => '\n' + indent + '  ' + text).join(',') + '\n' + indent + close
  }

  const formatItems = (all, format) => {
    const shown = []
    for (const one of all) {
      if (shown.length === MAX_ITEMS) return [...shown, '...']
      shown.push(format(one))
    }
    return shown
  }

  const format = (value, ancestors = []) => {
    if (typeof value === 'string') return ancestors.length === 0 ? value : stringify(value)
    if (typeof value === 'bigint') return value + 'n'
    if (typeof value === 'function') return '[Function' + (value.name ? ': ' + value.name : '') + ']'
    if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
    return ancestors.includes(value) ? '[Circular]' : formatObject(value, [...ancestors, value])
  }

  const formatObject = (value, ancestors) => {
    const item = (one) => format(one, ancestors)
    const indent = '  '.repeat(ancestors.length - 1)
    if (value instanceof Error) return describe(value)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof RegExp) return String(value)
    if (value instanceof Promise) return 'Promise'
    if (ancestors.length > MAX_DEPTH) return Array.isArray(value) ? '[Array]' : '[Object]'
    if (Array.isArray(value)) return formatList(indent, '[', formatItems(value, item), ']')
    if (value instanceof Set) return 'Set(' + value.size + ') ' + formatList(indent, '{', formatItems(value, item), '}')
    if (value instanceof Map) {
      const pairs = formatItems(value, ([key, one]) => item(key) + ' => ' + item(one))
      return 'Map(' + value.size + ') ' + formatList(indent, '{', pairs, '}')
    }
    const name = value.constructor?.name ?? ''
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return name + '(' + value.length + ') ' + formatList(indent, '[', formatItems(value, item), ']')
    }
    const key = (text) => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : stringify(text))
    const entries = formatItems(Object.keys(value), (one) => key(one) + ': ' + item(value[one]))
    return (name === 'Object' || name === '' ? '' : name + ' ') + formatList(indent, '{', entries, '}')
  }

  /** An error with its message and the stack frames of the code; frames of the prelude are dropped. */
  const describe = (error) => {
    if (!(error instanceof Error)) return 'Uncaught ' + format(error)
    const frames = String(error.stack ?? '').split('\n').filter((line) => line.includes('code.js'))
    return [error.name + ': ' + error.message, ...frames.slice(0, MAX_FRAMES)].join('\n')
  }

  const orPlaceholder = (text) => {
    try {
      return String(text())
    } catch {
      return '[value that cannot be printed]'
    }
  }

  const printer = (stream) => (...values) => {
    host.print(stream, stringify(values.map((value) => orPlaceholder(() => format(value))).join(' ') + '\n'))
  }
  const out = printer('out')
  const err = printer('err')
  globalThis.console = { log: out, info: out, debug: out, dir: out, table: out, error: err, warn: err, trace: err }

  const pending = new Map()
  const waitFor = (id) => new Promise((resolve, reject) => pending.set(id, { resolve, reject }))

  class ToolError extends Error {}
  Object.defineProperty(ToolError.prototype, 'name', { value: 'ToolError' })
  const createTool = (name) => async (args = {}) => {
    const { stack } = new ToolError() // taken now: the stack of the call is gone when its result arrives
    try {
      return parse(await waitFor(host.callTool(stringify(name), stringify(args) ?? 'null')))
    } catch (error) {
      throw Object.assign(error, { stack })
    }
  }

  Object.assign(globalThis, {
    readFile: (name) => parse(host.readText(stringify(String(name)))),
    readBytes: (name) => new Uint8Array(host.readBytes(stringify(String(name)))),
    writeFile: (name, data) => {
      const file = stringify(String(name))
      if (typeof data === 'string') host.writeText(file, stringify(data))
      else if (data instanceof ArrayBuffer) host.writeBytes(file, data)
      else if (ArrayBuffer.isView(data)) {
        host.writeBytes(file, data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
      } else throw new TypeError('writeFile(name, data) takes text, a typed array or an ArrayBuffer')
    },
    listFiles: () => parse(host.listFiles()),
  })

  const timers = new Set()
  globalThis.setTimeout = (callback, ms, ...args) => {
    const id = host.startTimer(Number(ms) || 0)
    timers.add(id)
    waitFor(id)
      .then(() => timers.delete(id) && callback(...args))
      .catch((error) => host.end(false, stringify(orPlaceholder(() => describe(error)))))
    return id
  }
  globalThis.clearTimeout = (id) => {
    timers.delete(id)
    host.clearTimer(Number(id) || 0)
  }

  return {
    /** Called before each run with the names of its tools. */
    startRun(names) {
      timers.clear()
      pending.clear()
      const tools = Object.create(null)
      for (const name of parse(names)) tools[name] = createTool(name)
      globalThis.tools = Object.freeze(tools)
    },
    /** Waits for the end of the code and prints the value of its last expression, as a console does. */
    async followRun(run) {
      try {
        const value = await (await run).value
        if (value !== undefined) out(value)
        host.end(true, '""')
      } catch (error) {
        host.end(false, stringify(orPlaceholder(() => describe(error))))
      }
    },
    /** Settles a tool call or a timer. */
    settle(id, isSuccess, text) {
      const promise = pending.get(id)
      pending.delete(id)
      if (isSuccess) promise?.resolve(text)
      else promise?.reject(new ToolError(parse(text)))
    },
    /** The text of an error that left the virtual machine. */
    describeError: (error) => stringify(orPlaceholder(() => describe(error))),
  }
})`
